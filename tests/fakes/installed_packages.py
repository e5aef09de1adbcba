"""Packages that are installed beside ragsonde, for as long as a test takes."""

from __future__ import annotations

import sys

from ragsonde.plugins.formats import load_formats
from ragsonde.plugins.formulas import load_formulas
from ragsonde.plugins.judges import list_judge_kinds, load_judge_kinds
from ragsonde.plugins.sinks import load_sink_kinds


class InstalledPackages:
    """Puts folders of packages, or packages written here, on the path; used as a context."""

    def __init__(self, folder, monkeypatch):
        self._folder = folder
        self._monkeypatch = monkeypatch
        self._modules = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._monkeypatch.undo()
        for module in self._modules:
            sys.modules.pop(module, None)
        self._forget()

    def add(self, folder):
        """Installs the package that a folder holds, with its dist-info."""
        self._modules += [file.stem for file in folder.glob("*.py")]
        self._monkeypatch.syspath_prepend(folder)
        self._forget()

    def write(self, name, *, group, points, code):
        """Installs a package of one module whose entry points lead to its objects, by name."""
        folder = self._folder / name
        metadata = folder / f"{name}-1.0.dist-info"
        metadata.mkdir(parents=True)
        (folder / f"{name}.py").write_text(code)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = "".join(f"{point} = {name}:{target}\n" for point, target in points.items())
        (metadata / "entry_points.txt").write_text(f"[{group}]\n{lines}")
        self.add(folder)

    def _forget(self):
        for load in (load_formats, load_formulas, list_judge_kinds, load_judge_kinds, load_sink_kinds):
            load.cache_clear()

"""The frozen model that every value of ragsonde is."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """An immutable value; unknown fields are refused, non-finite floats too."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

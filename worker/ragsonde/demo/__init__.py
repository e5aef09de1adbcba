"""The invented shop of the demo: its help pages, what its customers ask, and two weeks of its past."""

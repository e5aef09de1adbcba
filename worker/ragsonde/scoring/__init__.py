"""Pure formulas: (trace, assessment, options) to a score, or to the reason why there is none."""

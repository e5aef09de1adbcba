"""Which tables hold what there is of a trace, and the names of their keys' columns."""

REVISION_KEY = ("trace_id", "app", "record_key", "revision", "day")
EVALUATION_KEY = (*REVISION_KEY, "judge", "fingerprint")

TRACE_TABLES = ("trace", "trace_text", "evaluation", "assessment", "judge_reply", "score")
"""What there is of each trace."""

PARTITIONED = (*TRACE_TABLES, "score_block")
"""The tables that have a partition a day; the others are emptied by row."""

"""Whether the scores of a stream have fallen, said with a bound on false alarms: no clock, no I/O."""

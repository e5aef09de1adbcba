"""The report to those who pay for the system: what is read, and how it is written down."""

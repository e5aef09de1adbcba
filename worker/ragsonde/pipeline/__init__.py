"""The map: the path of one trace, on one screen."""

"""Scores watched: blocks counted, streams looked at, baselines armed, falls told and their later life."""

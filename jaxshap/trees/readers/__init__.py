"""Readers of fitted tree ensembles, one file a library."""

"""Readers of fitted tree ensembles, one file per library; `registry.py` lists them."""

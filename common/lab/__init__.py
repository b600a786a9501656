"""Experiments as data: files and settings, the run of a seed, tables, fingerprints, data sets."""

"""A paper small enough to run through the whole workflow in a test."""

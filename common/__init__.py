"""What at least two papers share: the Gaussian process, seeds, tables, workflow and report."""

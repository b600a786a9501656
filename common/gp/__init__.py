"""The Gaussian process that all five papers stand on: kernels, posterior, evidence, acquisition."""

"""Products of matrices: matmul and linear, forward and backward."""

"""Convolutions over one to three axes, transposed ones, and the fused ones of inference."""

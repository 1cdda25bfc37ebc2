"""Pooling over windows of up to three axes: kernels, geometry, and the operations."""

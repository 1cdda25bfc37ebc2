"""Normalizations: layer, RMS, group, instance and batch norm, forward and backward."""

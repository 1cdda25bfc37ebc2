"""Reductions over axes and scans along one."""

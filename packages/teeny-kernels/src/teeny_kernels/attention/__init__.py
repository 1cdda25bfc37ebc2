"""Attention: flash attention, forward and backward."""

"""Losses: of classes, and of every element, with their reductions."""

"""Proofs that loads and stores stay inside of their arrays, for all launches at once.

Decides on the IR, with integers that do not wrap; a refutation is run before it is reported.
"""

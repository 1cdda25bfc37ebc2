"""The CPU back end: tile IR -> fused loop nests over short vectors as LLVM IR text -> object.

The order of things: features, induction, classes and axis (what is known of values), cluster (which
operations share a loop nest), lower (text), objects (llvmlite, the only import of it in teenyc).
"""

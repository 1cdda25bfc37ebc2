"""The IR: typed SSA with regions, its builder, printer and verifier. It knows no op by name."""

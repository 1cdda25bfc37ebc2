"""Back ends of teenyc: each takes the verified IR of one unit and returns artefacts."""

__all__: list[str] = []

HOMES: dict[str, str] = {}

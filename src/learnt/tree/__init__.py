"""Single trees: the table cut into boxes by questions about one column at a time."""

__all__: list[str] = []

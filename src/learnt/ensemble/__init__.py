"""Many models that decide together: bagging, forests, boosting, voting, stacking."""

__all__: list[str] = []

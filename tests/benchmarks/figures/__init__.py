"""One module a figure: ``TITLE`` and ``measure(size) -> list[Row]``."""

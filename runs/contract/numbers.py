"""Whole numbers in text from outside."""

MOST_DIGITS = 18  # what a column of 64 bits holds in any case; Python refuses thousands of them


def whole_number(text: str) -> int | None:
    """The number that ASCII digits write; None for any other text, also for digits of other scripts."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None

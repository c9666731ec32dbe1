"""States, glyphs, times, numbers and sentences in words; templates format nothing by themselves."""

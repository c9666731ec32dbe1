"""Questions to people: the task machine, typed forms, asking, answering and withdrawing."""

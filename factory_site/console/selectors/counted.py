"""A count that reads no more rows than its query allows."""

from __future__ import annotations

from django.db.models import IntegerField, Subquery


class Counted(Subquery):
    """How many rows a sliced query has, as one column of another query."""

    template = "(SELECT count(*) FROM (%(subquery)s) AS counted)"
    output_field = IntegerField()

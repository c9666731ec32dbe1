"""The summary of `--once`: what each pull request came to, and whether they landed in the scenario's order. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from factory_site.demo.telling import Paper, clock, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from factory_site.demo.played import Played

WRONG = "NOT AS EXPECTED"


def ending(pulls: Sequence[Played], order: Sequence[str], paper: Paper) -> tuple[list[str], bool]:
    """Lines of the table, and whether all came true; ``order`` names the branches that land one after another."""
    rows = []
    for pull in pulls:
        ended = pull.state or "never submitted"
        took = "-" if pull.ended_after is None else clock(pull.ended_after)
        mark = "" if pull.state == pull.expect else WRONG
        rows.append([pull.key, pull.expect, ended, str(pull.rounds), took, mark])
    titles, *told = table(["pull request", "expected", "ended as", "rounds", "time", ""], rows)
    lines = [paper.toned(titles, "head")]
    lines += [paper.toned(line, "bad" if row[-1] else "good") for line, row in zip(told, rows, strict=True)]
    good = bool(pulls) and not any(row[-1] for row in rows)
    if not order:
        return lines, good
    landed = _landed_in_turn([pull for pull in pulls if pull.branch in order])
    kept = [pull.branch for pull in landed] == list(order)
    sequence = " ".join(f"#{pull.key.partition('#')[2]}" for pull in landed)
    told_order = f"landed one after another: {sequence}{'' if kept else f'  {WRONG}'}"
    return [*lines, "", paper.toned(told_order, "good" if kept else "bad")], good and kept


def _landed_in_turn(pulls: Sequence[Played]) -> list[Played]:
    """Those that landed, the first one first."""
    return sorted((pull for pull in pulls if pull.landed is not None), key=lambda pull: pull.landed or 0)

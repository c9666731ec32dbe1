"""What a figure says: a value, what it has to reach, and the absolute numbers behind it."""

import os
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
HEAD = ("| figure | measured | bar | reached | behind it |", "|---|---|---|---|---|")
GIB = 1024**3


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured; ``quick`` tries a figure out in a tenth of the time, and its ratios are rough."""

    quick: bool = False

    @property
    def repetitions(self) -> int:
        return 3 if self.quick else 5

    @property
    def pairs(self) -> int:
        """Claims with their results that one client makes in a repetition."""
        return 50 if self.quick else 150

    @property
    def few(self) -> int:
        """Rows of the small table."""
        return 1_000

    @property
    def many(self) -> int:
        """Queued rows of the large table."""
        return 10_000 if self.quick else 100_000

    @property
    def finished(self) -> int:
        """Runs at rest in the large table."""
        return 50_000 if self.quick else 1_000_000


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; without ``at_least`` the value may not be above the bar."""

    figure: str
    value: float
    unit: str
    bar: float
    at_least: bool = False
    note: str = ""

    @property
    def reached(self) -> bool:
        return self.value >= self.bar if self.at_least else self.value <= self.bar

    def cells(self) -> tuple[str, ...]:
        bar = f"{'≥' if self.at_least else '≤'} {_number(self.bar, self.unit)}"
        return (self.figure, _number(self.value, self.unit), bar, "yes" if self.reached else "**no**", self.note)


def ratio(figure: str, value: Sequence[float], floor: Sequence[float], bar: float, **more: object) -> Row:
    """The median of the ratios pair by pair: what slowed a repetition slowed its floor too."""
    pairs = [one / base for one, base in zip(value, floor, strict=True)]
    return Row(figure, statistics.median(pairs), "×", bar, **more)  # type: ignore[arg-type]


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that ``share`` of all do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def as_text(rows: Iterable[Row]) -> str:
    """The rows for a terminal."""
    return "".join("{:<76} {:>14} {:>14} {:>6}  {}\n".format(*row.cells()) for row in rows)


def as_markdown(rows: Iterable[Row], known: str = "") -> str:
    """The rows as a table of a page; those of a ``known`` table that were not measured again stay as they are."""
    lines = {line.split(" | ")[0]: line for line in known.splitlines() if line.startswith("| ") and line not in HEAD}
    for row in rows:
        line = "| " + " | ".join(row.cells()) + " |"
        lines[line.split(" | ")[0]] = line
    return "\n".join([*HEAD, *lines.values()])


def machine() -> str:
    """The machine, by what a reader needs to compare with: cores and memory."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIB
    return f"{os.cpu_count()} cores, {memory:.0f} GiB of memory"


def write_page(rows: Iterable[Row], *, whole: bool) -> None:
    """Replace the generated part of the page: all of it, or the rows that were measured."""
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    known, _, after = rest.partition(END)
    table = as_markdown(rows, "" if whole else known)
    PAGE.write_text(f"{before}{BEGIN}\n\nMeasured on {machine()}.\n\n{table}\n\n{END}{after}")


def _number(value: float, unit: str) -> str:
    digits = 0 if value >= 100 or value == int(value) else 1 if value >= 10 else 2
    return f"{value:.{digits}f} {unit}".strip()

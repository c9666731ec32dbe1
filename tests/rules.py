"""The rules and scenarios in force: which ids the tests claim, and the pages of `docs/rules/` that list them.

`python -m tests.rules` compares the pages with the claims. `--write SPECIFICATION` renews them from the folder that
holds the specification, whose words a page gives so that a reader of a test finds what its id stands for.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
PAGES = ROOT / "docs" / "rules"
ID = re.compile(r"\b[A-Z]{2}-[HS]\d+\b")
LISTED = re.compile(r"^\| ([A-Z]{2}-[HS]\d+) \|", re.MULTILINE)
PARTS = {
    "AD": "Adapters",
    "CO": "Console",
    "CV": "Convergence",
    "EV": "Events",
    "GH": "GitHub",
    "MG": "Merging",
    "PO": "Pool",
    "RU": "Runs",
    "WP": "Worker protocol",
}


def claimed_ids() -> dict[str, list[str]]:
    """Each claimed id with the files whose tests claim it, in the docstring of a test or of a state machine."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted(TESTS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_test = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")
            is_machine = isinstance(node, ast.ClassDef) and any("StateMachine" in ast.unparse(b) for b in node.bases)
            if is_test or is_machine:
                for each in ID.findall(ast.get_docstring(node) or ""):  # type: ignore[arg-type]  # one of the two above
                    found[each].add(str(path.relative_to(ROOT)))
    return {each: sorted(files) for each, files in found.items()}


def listed_ids() -> set[str]:
    """The ids that the pages list."""
    return {each for page in PAGES.glob("*.md") for each in LISTED.findall(page.read_text(encoding="utf-8"))}


def rule_words(specification: Path) -> dict[str, str]:
    """The sentence of every rule and scenario of the specification, by id."""
    words: dict[str, str] = {}
    for path in sorted(specification.glob("*.md")):
        current = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            begins = re.match(r"(?:- |\d+\. |\| )?\*\*([A-Z]{2}-[HS]\d+)\*\*:?\s*(.*)", line.strip())
            if begins:
                current = begins[1]
                words.setdefault(current, begins[2])
            elif current and line.startswith("  ") and line.strip():
                words[current] += " " + line.strip()
            else:
                current = ""
    return {each: text.strip(" |").replace("|", "\\|") for each, text in words.items()}


def pages_write(specification: Path) -> None:
    """Write one page a part, with every claimed id, its words, and where it is proven."""
    words, claims = rule_words(specification), claimed_ids()
    PAGES.mkdir(exist_ok=True)
    for part, title in PARTS.items():
        ids = sorted((each for each in claims if each.startswith(part)), key=lambda each: (each[3], int(each[4:])))
        page = PAGES / f"{part}.md"
        if not ids:
            page.unlink(missing_ok=True)
            continue
        lines = [f"# {title}: rules (H) and scenarios (S) in force", ""]
        lines += ["| id | what holds | proven in |", "|---|---|---|"]
        lines += [f"| {each} | {words.get(each, '')} | {', '.join(f'`{f}`' for f in claims[each])} |" for each in ids]
        page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def differences() -> list[str]:
    """Claims that no page lists, and listed ids that no test claims."""
    claims, listed = set(claimed_ids()), listed_ids()
    missing = [f"{each} is claimed by a test and listed nowhere" for each in sorted(claims - listed)]
    return missing + [f"{each} is listed and no test claims it" for each in sorted(listed - claims)]


def main() -> int:
    """Write or compare; 1 when the pages do not fit the claims."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, metavar="SPECIFICATION")
    options = parser.parse_args()
    if options.write:
        pages_write(options.write)
    for line in differences():
        sys.stdout.write(line + "\n")
    return 1 if differences() else 0


if __name__ == "__main__":
    sys.exit(main())

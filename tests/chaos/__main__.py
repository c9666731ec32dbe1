"""`python -m tests.chaos --minutes 10`: the storm, its counts, and what did not hold.

It takes root (one worker's home is a small disk of its own) and `datefudge`. DATABASE_URL puts it on PostgreSQL.
"""

import argparse
import secrets
import sys

from tests import databases
from tests.chaos.storm import storm


def main() -> int:
    """Exit with 1 when anything does not hold or a fault never struck."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10_000))
    chosen = parser.parse_args()
    try:
        wrong = storm(chosen.minutes, chosen.seed)
    finally:
        databases.drop_all()
    sys.stdout.writelines(f"WRONG {line}\n" for line in wrong)
    sys.stdout.write("everything held\n" if not wrong else f"{len(wrong)} things did not hold\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())

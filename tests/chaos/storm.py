"""The storm itself: faults in an order of chance, each as often as any other."""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.chaos import proof
from tests.chaos.faults import FAULTS
from tests.chaos.field import Field
from tests.chaos.load import Load

BETWEEN = (0.2, 1.6)  # seconds between two faults
TRIES = 16  # of one fault, half a second apart


def storm(minutes: float, seed: int) -> list[str]:
    """Let it rage for so long, wait for calm, and return everything that does not hold; the counts are printed."""
    struck: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="storm-") as folder, Field(Path(folder)) as field:
        load = Load(field, seed)
        load.start()
        try:
            _rage(field, random.Random(seed), minutes * 60, struck)
            load.stop()
            _tell(struck, load, seed)
            proof.come_to_rest(field, load)
            field.leave()
            wrong = proof.prove(field, load)
        except BaseException:
            sys.stdout.write(f"seed {seed}: the storm broke off\n")
            _keep(field)
            raise
        if wrong:
            _keep(field)
    return [*wrong, *(f"{name} never struck" for name in FAULTS if not struck[name])]


def _rage(field: Field, rng: random.Random, seconds: float, struck: Counter[str]) -> None:
    """Every fault once in each round, in an order of chance; what died stays dead until after the next fault."""
    until = time.monotonic() + seconds
    bag: list[str] = []
    while time.monotonic() < until:
        bag = bag or rng.sample(sorted(FAULTS), len(FAULTS))
        name = bag.pop()
        struck[name] += _strike(name, field, rng)
        time.sleep(rng.uniform(*BETWEEN))
        field.tend()


def _strike(name: str, field: Field, rng: random.Random) -> bool:
    """Try until there is something to strike, such as an agent at work; False when there was nothing for seconds."""
    for _ in range(TRIES):
        if FAULTS[name](field, rng):
            return True
        time.sleep(0.5)
        field.tend()
    return False


def _tell(struck: Counter[str], load: Load, seed: int) -> None:
    sys.stdout.write(f"seed {seed}: {len(load.runs)} runs, {load.cancelled} cancelled by hand\n")
    for name in FAULTS:
        sys.stdout.write(f"  {name:<18} {struck[name]:>5}\n")
    sys.stdout.flush()


def _keep(field: Field) -> None:
    """Say the last words of every log of a run that failed."""
    for path in sorted([*field.folder.glob("*.log"), *(field.system.home / "run").glob("*.log")]):
        lines = path.read_text(errors="replace").splitlines()[-15:]
        sys.stdout.write(f"--- {path.name}\n" + "\n".join(lines) + "\n")

"""How many pull requests one document may ask for: halved when GitHub gives up, grown again when it copes."""

import threading
from dataclasses import dataclass

SMALLEST = 6  # with fewer the rows back off; there is no way down to one request for each pull request
GROWS_BY = 5
GROWS_AFTER = 10  # good requests in a row


@dataclass(slots=True)
class _Size:
    size: int
    good: int = 0


class BatchSizes:
    """The size that works, by credential. Safe for threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._sizes: dict[str, _Size] = {}

    def now(self, credential: str) -> int:
        """Return the number of pull requests that the next document may ask for."""
        with self._lock:
            return self._of(credential).size

    def halve(self, credential: str, tried: int) -> int | None:
        """Return the size to try after ``tried`` failed, or ``None`` when the rows have to back off."""
        with self._lock:
            known = self._of(credential)
            known.good = 0
            if tried <= SMALLEST:
                return None
            known.size = max(SMALLEST, tried // 2)
            return known.size

    def succeeded(self, credential: str) -> int | None:
        """Count a good request; return the new size when the tenth in a row let it grow."""
        with self._lock:
            known = self._of(credential)
            known.good += 1
            if known.good < GROWS_AFTER:
                return None
            known.good = 0
            if known.size == self._most:
                return None
            known.size = min(self._most, known.size + GROWS_BY)
            return known.size

    def _of(self, credential: str) -> _Size:
        return self._sizes.setdefault(credential, _Size(size=self._most))

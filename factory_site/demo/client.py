"""The demo as a program that uses the API, and nothing else of the control plane."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import requests

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = 10  # of one request


class Client:
    """Calls the API with the token of the first start; answers None while the control plane does not answer."""

    def __init__(self, url: str, admin_file: Path) -> None:
        """``admin_file`` appears when the control plane has made the first admin."""
        self.url = url
        self._admin_file = admin_file
        self._session = requests.Session()

    def login(self) -> dict[str, str] | None:
        """Name, password and token of the first admin, None until they exist."""
        if not self._admin_file.exists():
            return None
        login: dict[str, str] = json.loads(self._admin_file.read_text(encoding="utf-8"))
        self._session.headers["Authorization"] = f"Bearer {login['token']}"
        return login

    def is_up(self) -> bool:
        """Whether the control plane serves and the token is there."""
        return self._call("GET", "/health") is not None and self.login() is not None

    def get(self, path: str) -> Any:
        """The document at the path, None when there is no good answer now."""
        return self._call("GET", path)

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """The answer's document, None when it was refused or there is none."""
        return self._call("POST", path, body)

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        try:
            answer = self._session.request(method, self.url + path, json=body, timeout=SECONDS)
        except requests.RequestException:
            return None
        return answer.json() if answer.ok else None

"""What git runs to get a credential: asks the worker behind a Unix socket, and holds no secret itself.

Started as ``credential_helper.py SOCKET get``; it needs nothing but the standard library.
"""

import json
import socket
import sys

LARGEST_ANSWER = 65536
SECONDS = 60.0  # the worker asks the control plane first
REFUSED = "push refused: this attempt no longer holds its lease"


def main(argv: list[str]) -> int:
    """Answer git's ``get``; every other operation is silence."""
    if len(argv) != 3 or argv[2] != "get":  # noqa: PLR2004 -- program, socket, operation
        return 0
    asked = dict(line.rstrip("\n").split("=", 1) for line in sys.stdin if "=" in line)
    try:
        answer = ask(argv[1], asked)
    except (OSError, ValueError, TypeError):
        answer = {"refused": "nobody answers"}
    if answer.get("refused"):
        sys.stderr.write(REFUSED + "\n")
        sys.stdout.write("quit=1\n")
    elif "password" in answer:
        sys.stdout.write(f"username={answer['username']}\npassword={answer['password']}\n")
    return 0


def ask(path: str, asked: dict[str, str]) -> dict[str, str]:
    """The worker's answer; ``OSError`` if nobody is behind the socket, ``ValueError`` if it broke off."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(SECONDS)
        connection.connect(path)
        connection.sendall(json.dumps(asked).encode() + b"\n")
        content = b""
        while not content.endswith(b"\n") and len(content) < LARGEST_ANSWER:
            chunk = connection.recv(4096)
            if not chunk:
                break
            content += chunk
    found = json.loads(content)
    if not isinstance(found, dict):
        raise TypeError
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv))

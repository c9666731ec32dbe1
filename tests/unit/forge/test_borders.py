"""What stays inside the forge package: HTTP, and every word of GraphQL."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
FORGE = ROOT / "convergence" / "forge"
GRAPHQL = re.compile(r"\b(?:query|mutation)\s+\w+\s*[({]|\.\.\.\s*on\s+[A-Z]|fragment\s+\w+\s+on\b")


def modules(*packages):
    return [path for package in packages for path in sorted((ROOT / package).rglob("*.py"))]


def strings(path):
    """The text constants of a module but its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    documented = [node.body[0] for node in ast.walk(tree) if isinstance(node, owners) and ast.get_docstring(node)]
    skipped = {id(node.value) for node in documented if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.value


def test_only_the_wire_of_the_forge_speaks_http():
    wire = FORGE / "wire"
    pattern = re.compile(
        r"^\s*(?:import|from)\s+(?:requests|urllib3|httpx|urllib\.request|http\.client)\b", re.MULTILINE
    )
    found = [path for path in modules("convergence", "merging", "runs") if pattern.search(path.read_text("utf-8"))]
    assert [path for path in found if wire not in path.parents] == []


def test_all_graphql_text_stands_in_the_documents():
    documents = FORGE / "documents"
    found = {
        path for path in modules("convergence", "merging", "runs") for text in strings(path) if GRAPHQL.search(text)
    }
    assert found
    assert {path for path in found if documents not in path.parents} == set()

"""Who writes a state: one function for each machine, and nobody else."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WRITERS = {
    "runs/queue/journal.py take": "run",
    "runs/flows/move.py flow_move": "flow",
    "runs/humans/tasks.py _task_move": "task",
    "convergence/services/move.py pull_show": "pull request",
    "convergence/services/escalations.py escalation_end": "escalation",
    "convergence/services/reviews.py reviews_seen": "what the forge says of a review, which is no machine of ours",
    "convergence/services/submit.py pull_resubmit": "a loaded row follows what its writer has stored",
    "merging/effects/fence.py still_asked": "a loaded row follows what is stored, under its lock",
    "factory_site/demo/director.py _follow": "what the demo was told over HTTP",
}


def writes_state(node):
    """Whether the node assigns an attribute `state`, updates a column `state`, or makes columns of an edge's target."""
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return any(ast.unparse(key) == "'state'" and "target" in ast.unparse(value) for key, value in pairs if key)
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        leaves = [leaf for target in targets for leaf in (target.elts if isinstance(target, ast.Tuple) else [target])]
        return any(isinstance(leaf, ast.Attribute) and leaf.attr == "state" for leaf in leaves)
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "setattr":
        return len(node.args) > 1 and isinstance(node.args[1], ast.Constant) and node.args[1].value == "state"
    given = [each.arg for each in node.keywords]
    named = [
        key.value
        for each in node.args
        if isinstance(each, ast.Dict)
        for key in each.keys
        if isinstance(key, ast.Constant)
    ]
    return name in {"update", "bulk_update", "update_or_create"} and "state" in {*given, *named}


def writers():
    found = set()
    for package in ("runs", "convergence", "merging", "workers", "factory_site"):
        for path in (ROOT / package).rglob("*.py"):
            if "migrations" in path.parts:
                continue
            for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(function, ast.FunctionDef) and any(writes_state(each) for each in ast.walk(function)):
                    found.add(f"{path.relative_to(ROOT)} {function.name}")
    return found


def test_each_machine_has_one_writer_of_its_state():
    """RU-H6: the state of a run, flow, task or pull request is written by one function each."""
    assert writers() == set(WRITERS)

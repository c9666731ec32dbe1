"""How pull requests begin: their base, their body, their first checks, and the submit."""

from tests.db.histories.moves.people import submit

LETTERS = "abcdefg"


def opened(stage, repository):
    """One more pull request, submitted."""
    verbs, number = stage.sim.verbs, len(stage.pulls)
    branch = f"feat/{LETTERS[number]}"
    body = (
        f"Depends-on: {stage.one(stage.pulls).key}"
        if stage.pulls and not stage.site and stage.chance(0.4)
        else "Sums up."
    )
    pull = verbs.add_pull(
        repository, branch, title=f"Total {number}", body=body, files={f"feat-{LETTERS[number]}.py": "total = 1\n"},
        draft=not stage.site and stage.chance(0.04), base=_base(stage),
    )  # fmt: skip
    if stage.merging and not stage.site and stage.chance(0.6):
        verbs.add_check(pull, "test", stage.one(["SUCCESS", "SUCCESS", "FAILURE", None]))
    stage.pulls.append(pull)
    others = [other for other in stage.pulls if other is not pull]
    submit(stage, pull, *([stage.one(others)] if others and not stage.site and stage.chance(0.15) else []))


def _base(stage):
    """The default branch, another one, or the branch of a pull request that may land first."""
    if stage.site:
        return "main"
    if stage.pulls and stage.chance(0.12):
        return stage.one(stage.pulls).head_ref
    return "next" if stage.chance(0.1) else "main"

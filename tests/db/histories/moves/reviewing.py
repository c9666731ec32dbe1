"""Reviews of the bot, of people and of strangers; threads that are resolved and opened again."""

from tests.db.histories.moves.code import file_of, open_pull
from tests.db.histories.moves.table import move

COPILOT = "copilot-pull-request-reviewer"
CLEAN = "Copilot reviewed 1 out of 1 changed files in this pull request and generated no comments."
TEXTS = ["This sum is wrong.", "Name it by its unit.", "Handle the empty list."]


def threads(stage, pull, count):
    return [{"path": file_of(pull), "line": 1, "text": stage.one(TEXTS)} for _ in range(count)]


@move(14)
def clean_review(stage):
    if pull := open_pull(stage):
        stage.sim.verbs.review(pull, COPILOT, body=CLEAN)


@move(7)
def review_with_findings(stage):
    if pull := open_pull(stage):
        count = stage.one([1, 1, 2])
        body = f"Copilot reviewed 1 out of 1 changed files and generated {count} comments."
        stage.sim.verbs.review(pull, COPILOT, body=body, threads=threads(stage, pull, count))


@move(4)
def review_with_suppressed_comments(stage):
    if pull := open_pull(stage):
        told = f"**{file_of(pull)}:1**: {stage.one(TEXTS)}\n\n"
        announced = stage.one([1, 1, 1, 1, 2])  # two of which one can be read is a review that cannot be read
        body = f"Copilot reviewed 1 file and generated no comments.\n\n### Suppressed comments ({announced})\n\n{told}"
        stage.sim.verbs.review(pull, COPILOT, body=body)


@move(5)
def person_reviews(stage):
    if pull := open_pull(stage):
        state = stage.one(["APPROVED", "APPROVED", "CHANGES_REQUESTED", "COMMENTED"])
        some = threads(stage, pull, stage.one([0, 0, 1]))
        stage.sim.verbs.review(pull, "maria", state, "As seen.", threads=some)


@move(2)
def stranger_reviews(stage):
    if pull := open_pull(stage):
        stage.sim.verbs.review(
            pull, stage.one(["lint-bot", "passer-by"]), body="Looks odd.", threads=threads(stage, pull, 1)
        )


@move(3)
def review_of_an_old_head(stage):
    if pull := open_pull(stage):
        seen = sorted(stage.heads.get(pull.number, {pull.head_sha}))
        stage.sim.verbs.review(pull, COPILOT, body=CLEAN, sha=stage.one(seen))


@move(3)
def dismissed(stage):
    pull = open_pull(stage)
    review = stage.one(pull.reviews) if pull else None
    if review:
        stage.sim.verbs.dismiss(review)


@move(9)
def resolved(stage):
    pull = open_pull(stage)
    thread = stage.one(t for t in pull.threads if not t.is_resolved) if pull else None
    if thread:
        stage.sim.verbs.resolve(thread)


@move(2)
def opened_again(stage):
    pull = open_pull(stage)
    thread = stage.one(t for t in pull.threads if t.is_resolved) if pull else None
    if thread:
        stage.sim.verbs.resolve(thread, resolved=False)

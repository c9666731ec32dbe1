"""The token with which an agent asks for its submission goes to the agent, and to nobody who looks at the run."""

import json

import pytest
from django.core.serializers.json import DjangoJSONEncoder

from convergence.models import PullRequestGeneration
from runs.models import Run
from runs.reading.detail import run_detail

pytestmark = pytest.mark.django_db


def test_a_run_is_shown_without_the_token_that_its_agent_is_given(stage):
    stage.begun()
    token = PullRequestGeneration.objects.get().abandon_token
    run = Run.objects.get()
    given = run.spec_row.document
    assert token in given["promptAppend"]
    assert token in given["input"]["abandonUrl"]
    shown = json.dumps(run_detail(run), cls=DjangoJSONEncoder)
    assert token not in shown
    assert "abandon?token=[redacted:abandon_token]" in shown

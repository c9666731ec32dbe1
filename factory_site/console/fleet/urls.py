"""Addresses of the pages of the machine; each is the address of the same thing in the API."""

from django.urls import path

from factory_site.console.fleet import agents, doctor, limits, outbox, run, run_acts, runs, worker_acts, workers

urlpatterns = [
    path("runs/", runs.run_list),
    path("runs/<str:run_id>/", run.run_detail),
    path("runs/<str:run_id>/trace/", run.run_trace),
    path("runs/<str:run_id>/cancel/", run_acts.cancel),
    path("runs/<str:run_id>/retry/", run_acts.retry),
    path("runs/<str:run_id>/extend/", run_acts.extend),
    path("workers/", workers.worker_list),
    path("workers/<str:worker_id>/", workers.worker_detail),
    path("workers/<str:worker_id>/drain/", worker_acts.drain),
    path("workers/<str:worker_id>/release/", worker_acts.release),
    path("outbox/<int:row_id>/requeue/", outbox.requeue),
    path("agents/", agents.agent_list),
    path("agents/<str:ref>/", agents.agent_detail),
    path("agents/<str:ref>/prompt/", agents.agent_prompt),
    path("pauses/", limits.pauses),
    path("pauses/<int:pause_id>/lift/", limits.lift),
    path("budgets/", limits.budgets),
    path("budgets/raise/", limits.raised),
    path("doctor/", doctor.doctor),
]

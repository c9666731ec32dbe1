"""Addresses of the console's pages; an action is a POST to the address of its thing plus a verb."""

from django.urls import include, path

from factory_site.console import frame, merges, overview, pull, pulls, reviewers, sign_in, task_acts, tasks

urlpatterns = [
    path("", overview.overview),
    path("login/", sign_in.sign_in),
    path("logout/", sign_in.sign_out),
    path("pulse/", frame.pulse_view),
    path("preferences/", frame.preferences),
    path("tasks/", tasks.task_list),
    path("tasks/<int:task_id>/", tasks.task_detail),
    path("tasks/<int:task_id>/complete/", tasks.task_complete),
    path("tasks/<int:task_id>/take/", task_acts.take),
    path("tasks/<int:task_id>/snooze/", task_acts.snooze),
    path("tasks/<int:task_id>/revert/", task_acts.revert),
    path("reviewers/probe/", reviewers.probe),
    path("pull-requests/", pulls.pull_list),
    path("pull-requests/<str:owner>/<str:name>/<int:number>/", pull.pull_detail),
    path("pull-requests/<str:owner>/<str:name>/<int:number>/look/", pull.look),
    path("pull-requests/<str:owner>/<str:name>/<int:number>/cancel/", pull.cancel),
    path("pull-requests/<str:owner>/<str:name>/<int:number>/pass-lane/", merges.pass_lane),
    path("pull-requests/<str:owner>/<str:name>/<int:number>/drop-dependency/", merges.drop_dependency),
    path("", include("factory_site.console.fleet.urls")),
]

"""Every module can be the first that a process imports: no circle is hidden by a lucky order."""

import subprocess
import sys

import pytest

from tests.process.system import PROJECT

FIRST = ("factory_site.urls", "factory_site.console.failures", "factory_site.api.errors", "factory_site.status")
SET_UP = "import os, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'tests.settings'; django.setup(); import "


@pytest.mark.parametrize("module", FIRST)
def test_a_module_of_the_site_can_be_imported_first(module):
    done = subprocess.run(
        [sys.executable, "-c", SET_UP + module], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_an_idle_worker_has_loaded_no_client_library():
    """What a worker loads at its start is what each of them costs while it waits."""
    program = "import sys, workers.host.__main__; print(sorted({'requests', 'urllib3', 'django'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr

"""Django's settings, derived from the typed configuration of `config.py`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url

from factory_site.artifact_storage import artifact_storage
from factory_site.config import Config, load_config
from factory_site.logs import logging_config

BASE_DIR = Path(__file__).resolve().parent.parent

# Product code reads its settings here: `settings.FACTORY.poll_seconds`.
FACTORY: Config = load_config()
FACTORY.prepare_home()

SECRET_KEY = FACTORY.secret_key()
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", urlsplit(FACTORY.base_url).hostname or "localhost"]
ROOT_URLCONF = "factory_site.urls"
WSGI_APPLICATION = "factory_site.wsgi.application"

INSTALLED_APPS = [
    "factory_site",
    "merging",
    "convergence",
    "workers",
    "runs",
    "factory_site.admin_app.FactoryAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "template_partials",
    "ninja",  # serves the assets of the API's documentation from here instead of from the internet
]

MIDDLEWARE = [
    "workers.wire.door.worker_door",
    "django.middleware.security.SecurityMiddleware",
    "factory_site.api.border.border",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "factory_site.console.headers.console_headers",
    "factory_site.console.frame.zone_of_browser",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,  # template_partials wraps the cached loaders around these
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "factory_site.console.frame.frame",
            ],
        },
    },
]


def _database(config: Config) -> dict[str, Any]:
    """Return the database with the options that keep claims right on SQLite."""
    database: dict[str, Any] = dict(dj_database_url.parse(config.databases_url, conn_max_age=60))
    if database["ENGINE"] == "django.db.backends.sqlite3":
        database["ENGINE"] = "runs.sqlite"
        database["OPTIONS"] = {
            # A transaction takes the write lock at its start: upgrading a read lock later fails at once, unwaited.
            "transaction_mode": "IMMEDIATE",
            # Seconds. Django hands it to the connection, so it is in force before the first statement below.
            "timeout": 10,
            "init_command": (
                "PRAGMA journal_mode=WAL; "
                f"PRAGMA synchronous={config.sqlite_synchronous.upper()}; "
                "PRAGMA foreign_keys=ON;"
            ),
        }
    else:
        database["CONN_HEALTH_CHECKS"] = True
        # For the statements of `runs.rows`, whose plans would otherwise cost more than they themselves.
        database.setdefault("OPTIONS", {}).setdefault("prepare_threshold", 5)
    return database


DATABASES = {"default": _database(FACTORY)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "runs.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

LANGUAGE_CODE = "en"
USE_I18N = False  # the product speaks one language
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "static/"
STATIC_ROOT = FACTORY.home / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": FACTORY.home}},
    "artifacts": artifact_storage(FACTORY),
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

_HTTPS = FACTORY.base_url.startswith("https://")
CSRF_TRUSTED_ORIGINS = [FACTORY.base_url]
CSRF_COOKIE_SECURE = _HTTPS
CSRF_FAILURE_VIEW = "factory_site.console.failures.forbidden"
SESSION_COOKIE_SECURE = _HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 3600  # seconds; `console_headers` slides it on while a person uses the console
LOGIN_URL = "/login/"
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024  # bytes of a form or an API body; deliveries and uploads are read in pieces
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

LOGGING = logging_config(as_json=not sys.stderr.isatty())

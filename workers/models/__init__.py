"""Tables of the app: who may claim, and which workers and pools were seen."""

from workers.models.credential import Credential, CredentialToken
from workers.models.pool import Pool
from workers.models.worker import Worker

__all__ = ["Credential", "CredentialToken", "Pool", "Worker"]

"""Tables of the app: who may claim, and which workers were seen."""

from workers.models.credential import Credential, CredentialToken
from workers.models.worker import Worker

__all__ = ["Credential", "CredentialToken", "Worker"]

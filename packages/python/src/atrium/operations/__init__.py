"""A method for each operation of the API."""

# Written by scripts/python-client.ts out of packages/contract.

from __future__ import annotations

from .agents import AgentsOperations
from .artifacts import ArtifactsOperations
from .collections import CollectionsOperations
from .credits import CreditsOperations
from .infra import InfraOperations
from .items import ItemsOperations
from .keys import KeysOperations
from .operator import OperatorOperations
from .provider_keys import ProviderKeysOperations
from .sessions import SessionsOperations
from .share_page import SharePageOperations
from .space import SpaceOperations
from .tenants import TenantsOperations
from .usage import UsageOperations
from .webhooks import WebhooksOperations


class Operations(
    TenantsOperations,
    OperatorOperations,
    KeysOperations,
    ProviderKeysOperations,
    WebhooksOperations,
    ItemsOperations,
    UsageOperations,
    CollectionsOperations,
    SharePageOperations,
    ArtifactsOperations,
    AgentsOperations,
    SessionsOperations,
    CreditsOperations,
    InfraOperations,
    SpaceOperations,
):
    """All operations."""

"""The objects of the API. A NotRequired member may be missing."""

# Written by scripts/python-client.ts out of packages/contract.

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, Union


class AddItemData(TypedDict):
    id: NotRequired[str]
    ok: NotRequired[Literal[True]]


class Agent(TypedDict):
    id: str
    name: str
    description: str
    instructions: str
    model: NotRequired[AgentModel]
    endpoint: NotRequired[str]
    encryption_key: NotRequired[AgentEncryptionKey]
    """The public key of a remote agent that can be launched into rooms whose key never reaches a server: seal to it
    what the agent needs to join (`room.sealed_key` of a launch).
    """
    tools: list[ToolShown]
    price_credits: int
    """Whole credits."""
    credits_per_1k_tokens: NotRequired[int]
    """Whole credits for 1,000 tokens, paid from the budget of a session. Absent: free."""
    credits_per_tool_call: NotRequired[int]
    """Whole credits for each tool call, paid from the budget of a session. Absent: free."""
    max_minutes: int
    greeting: NotRequired[str]
    avatar_url: str | None
    signing_secret: NotRequired[str]
    """Only for a remote agent (whsec_…): signs the requests to its endpoint (Standard Webhooks). Returned only when it
    is new.
    """
    status: Literal["draft", "active", "private", "suspended", "pending"]
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    updated_at: str
    """RFC 3339, UTC, milliseconds."""


class AgentEncryptionKey(TypedDict):
    """The public key of a remote agent that can be launched into rooms whose key never reaches a server: seal to it
    what the agent needs to join (`room.sealed_key` of a launch).
    """

    kty: Literal["EC"]
    crv: Literal["P-256"]
    x: str
    y: str


class AgentModel(TypedDict):
    provider: str
    id: str


class AgentPatch(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str]
    instructions: NotRequired[str]
    """The system prompt of the model. Returned only to the owner."""
    price_credits: NotRequired[int]
    """The price of one launch, in whole credits."""
    credits_per_1k_tokens: NotRequired[int]
    """Whole credits for 1,000 tokens that the model reads or writes, paid from the budget of a session. 0: free. Only
    for hosted agents.
    """
    credits_per_tool_call: NotRequired[int]
    """Whole credits for each call of a tool, paid from the budget of a session. 0: free. Only for hosted agents."""
    max_minutes: NotRequired[int]
    model: NotRequired[AgentPatchModel | None]
    endpoint: NotRequired[str | None]
    """An https URL with a public address. Stored in normalised form."""
    encryption_key: NotRequired[AgentPatchEncryptionKey | None]
    """A public P-256 key (JWK) of a remote agent, whose private part its owner keeps. With it the agent can be
    launched into rooms whose key never reaches a server: what it needs to join is sealed to this key
    (`room.sealed_key` of a launch).
    """
    tools: NotRequired[list[ToolDecl]]
    greeting: NotRequired[str | None]
    avatar_url: NotRequired[str | None]
    """An https URL with a public address. Stored in normalised form."""
    rotate_signing_secret: NotRequired[bool]
    """Replaces the signing secret at once. The old secret is no longer used."""


class AgentPatchEncryptionKey(TypedDict):
    """A public P-256 key (JWK) of a remote agent, whose private part its owner keeps. With it the agent can be
    launched into rooms whose key never reaches a server: what it needs to join is sealed to this key
    (`room.sealed_key` of a launch).
    """

    kty: Literal["EC"]
    crv: Literal["P-256"]
    x: str
    y: str


class AgentPatchModel(TypedDict):
    provider: Literal["openai", "anthropic", "google", "openai_compatible", "echo"]
    id: str


class AgentRegistration(TypedDict):
    name: str
    description: str
    instructions: str
    """The system prompt of the model. Returned only to the owner."""
    price_credits: int
    """The price of one launch, in whole credits."""
    max_minutes: int
    credits_per_1k_tokens: NotRequired[int]
    """Whole credits for 1,000 tokens that the model reads or writes, paid from the budget of a session. 0: free. Only
    for hosted agents.
    """
    credits_per_tool_call: NotRequired[int]
    """Whole credits for each call of a tool, paid from the budget of a session. 0: free. Only for hosted agents."""
    model: NotRequired[AgentRegistrationModel]
    endpoint: NotRequired[str]
    """An https URL with a public address. Stored in normalised form."""
    encryption_key: NotRequired[AgentRegistrationEncryptionKey]
    """A public P-256 key (JWK) of a remote agent, whose private part its owner keeps. With it the agent can be
    launched into rooms whose key never reaches a server: what it needs to join is sealed to this key
    (`room.sealed_key` of a launch).
    """
    tools: NotRequired[list[ToolDecl]]
    greeting: NotRequired[str]
    """The first message that the agent writes after it joins."""
    avatar_url: NotRequired[str]
    """An https URL with a public address. Stored in normalised form."""


class AgentRegistrationEncryptionKey(TypedDict):
    """A public P-256 key (JWK) of a remote agent, whose private part its owner keeps. With it the agent can be
    launched into rooms whose key never reaches a server: what it needs to join is sealed to this key
    (`room.sealed_key` of a launch).
    """

    kty: Literal["EC"]
    crv: Literal["P-256"]
    x: str
    y: str


class AgentRegistrationModel(TypedDict):
    provider: Literal["openai", "anthropic", "google", "openai_compatible", "echo"]
    id: str


class Artifact(TypedDict):
    id: str
    kind: Literal["image", "clip", "card"]
    source: Literal["url", "paint", "produce", "upload"]
    url: str | None
    """Address of the bytes; null until they exist."""
    status: Literal["painting", "ready", "failed", "quota_exceeded"]
    stage: Literal["uploading", "queued", "running", "storing", "done"]
    approved: bool
    published: bool
    hero: bool
    archived: bool
    access: Literal["owner", "open", "email"]
    """Who can see the artifact once it is published. owner: only the owner. open: anyone, also on the share page.
    email: the accounts it is granted to. Default: open.
    """
    title: NotRequired[str]
    alt: NotRequired[str]
    width: NotRequired[int]
    """Pixels."""
    height: NotRequired[int]
    """Pixels."""
    mime: NotRequired[str]
    bytes: NotRequired[int]
    sha256: NotRequired[str]
    """Hex."""
    provider: NotRequired[str]
    """Only for a finished painting: the provider that made it; `local` is the built-in painter. The same `provider`,
    `model` and `seed` repeat it.
    """
    model: NotRequired[str]
    """Only for a finished painting."""
    seed: NotRequired[int]
    """Only for a finished painting: the seed that was sent, or a random one."""
    error: NotRequired[ArtifactError]
    created_at: str
    """RFC 3339, UTC, milliseconds."""


class ArtifactCreate(TypedDict):
    kind: Literal["image", "clip", "card"]
    url: str
    """https"""
    title: NotRequired[str]
    alt: NotRequired[str]


class ArtifactCurationPatch(TypedDict):
    published: NotRequired[bool]
    hero: NotRequired[bool]
    approved: NotRequired[bool]
    archived: NotRequired[bool]
    access: NotRequired[Literal["owner", "open", "email"]]
    """Who can see the artifact once it is published. owner: only the owner. open: anyone, also on the share page.
    email: the accounts it is granted to. Default: open.
    """
    grant: NotRequired[list[str]]
    revoke: NotRequired[list[str]]
    title: NotRequired[str | None]
    """null removes it."""
    alt: NotRequired[str | None]
    """What the picture shows, for people who cannot see it; null removes it."""


class ArtifactError(TypedDict):
    code: str
    message: str


class ArtifactStarted(TypedDict):
    id: str
    status: Literal["painting"]


class AuditBooksData(TypedDict):
    accounts: int
    transfers: int
    credits: int
    """Credits in circulation."""
    findings: list[AuditBooksDataFindingsEntry]
    """The inconsistencies that were found; at most 1,000."""


class AuditBooksDataFindingsEntry(TypedDict):
    rule: str
    subject: str
    """The account or hold, as tenant/id."""
    detail: str


class CatalogAgent(TypedDict):
    id: str
    name: str
    description: str
    price_credits: int
    """Whole credits."""
    credits_per_1k_tokens: NotRequired[int]
    """Whole credits for 1,000 tokens, paid from the budget of a session. Absent: free."""
    credits_per_tool_call: NotRequired[int]
    """Whole credits for each tool call, paid from the budget of a session. Absent: free."""
    max_minutes: int
    """The longest duration of a session, in minutes."""
    avatar_url: str | None
    hosting: Literal["hosted", "remote"]
    """hosted: this installation runs it. remote: it runs on a machine of its owner, which receives the key of each
    room that it is launched into and can keep it. In a room without a list it can therefore read and write as a
    guest after its session has ended.
    """
    encryption_key: NotRequired[CatalogAgentEncryptionKey]
    """The public key of a remote agent that can be launched into rooms whose key never reaches a server: seal to it
    what the agent needs to join (`room.sealed_key` of a launch).
    """
    rating: RatingAggregate
    logged: NotRequired[CatalogAgentLogged]
    """What the transparency log of this installation has of this agent: the entry
    `{"type":"agent_card","sha256":"…"}`, whose hash is SHA-256, in hexadecimal digits, of the salt followed by the
    card. Absent until it is logged, which takes about ten seconds for a new agent and up to ten minutes after a
    change. When the agent is changed or leaves the catalog, card and salt are deleted, and the entry says nothing
    any more.
    """


class CatalogAgentEncryptionKey(TypedDict):
    """The public key of a remote agent that can be launched into rooms whose key never reaches a server: seal to it
    what the agent needs to join (`room.sealed_key` of a launch).
    """

    kty: Literal["EC"]
    crv: Literal["P-256"]
    x: str
    y: str


class CatalogAgentLogged(TypedDict):
    """What the transparency log of this installation has of this agent: the entry
    `{"type":"agent_card","sha256":"…"}`, whose hash is SHA-256, in hexadecimal digits, of the salt followed by the
    card. Absent until it is logged, which takes about ten seconds for a new agent and up to ten minutes after a
    change. When the agent is changed or leaves the catalog, card and salt are deleted, and the entry says nothing
    any more.
    """

    card: str
    """The fields above except the rating, as JSON in the bytes that were hashed."""
    salt: str
    """43 characters."""
    log_proof: str
    """The address of the inclusion proof."""


class Checkout(TypedDict):
    id: str
    url: str | None
    """The payment page; null once the checkout is paid or expired, or while a payment is being processed."""
    status: Literal["open", "paid", "expired"]
    purpose: Literal["license_key", "prefund"]
    """license_key: a key that can be redeemed for a wallet. prefund: credits for the issuer's balance."""
    credits: int
    """Whole credits."""
    license_key: NotRequired[str]
    """Present from the payment until the key is redeemed (lic_…)."""
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    expires_at: str
    """RFC 3339, UTC, milliseconds."""


class CollectionCreate(TypedDict):
    metadata: NotRequired[dict[str, Any]]
    """The app's own configuration, at most 16 KiB. The share page reads share_title, share_description and theme
    ("light", "dark", "paper", "neon", or an object of CSS colours). The wall reads these, and wall_layout ("cards",
    "book" or "stage").
    """
    contributor_policy: NotRequired[Literal["open", "token"]]
    """open: a publishable key is enough to add items. token: a contributor or owner token is required as well."""
    item_access: NotRequired[Literal["owner", "open"]]
    """The access of items that are added from now on. open: anyone with the publishable key lists and reads them. In a
    box it is always owner. Default: "owner".
    """
    wall: NotRequired[bool]
    """Whether the collection has a wall: a page that shows the open items without a key. A box cannot have one.
    Default: False.
    """
    app_state: NotRequired[dict[str, Any]]
    """The app's own state, at most 16 KiB, readable by the owner alone."""
    box: NotRequired[CollectionCreateBox]


class CollectionCreateBox(TypedDict):
    recipient: PublicJwk


class CollectionCreated(TypedDict):
    id: str
    admin_token: str
    contributor_token: NotRequired[str]


class CollectionItemCreate(TypedDict):
    type: str
    """1–64 characters of a-z 0-9 . _ -"""
    content: Any
    """Any JSON up to 64 KiB."""
    author: NotRequired[str]


class CollectionOwner(TypedDict):
    id: str
    state: Literal["open", "ready", "closed"]
    app_state: dict[str, Any]
    """The app's own state."""
    items: list[Item]


class CollectionPatch(TypedDict):
    metadata: NotRequired[dict[str, Any]]
    """The app's own configuration, at most 16 KiB. The share page reads share_title, share_description and theme
    ("light", "dark", "paper", "neon", or an object of CSS colours). The wall reads these, and wall_layout ("cards",
    "book" or "stage").
    """
    contributor_policy: NotRequired[Literal["open", "token"]]
    """open: a publishable key is enough to add items. token: a contributor or owner token is required as well."""
    item_access: NotRequired[Literal["owner", "open"]]
    """The access of items that are added from now on. open: anyone with the publishable key lists and reads them. In a
    box it is always owner. Default: "owner".
    """
    wall: NotRequired[bool]
    """Whether the collection has a wall: a page that shows the open items without a key. A box cannot have one.
    Default: False.
    """


class CollectionPublic(TypedDict):
    id: str
    metadata: dict[str, Any]
    """The app's own configuration, at most 16 KiB. The share page reads share_title, share_description and theme
    ("light", "dark", "paper", "neon", or an object of CSS colours). The wall reads these, and wall_layout ("cards",
    "book" or "stage").
    """
    state: Literal["open", "ready", "closed"]
    contributor_policy: Literal["open", "token"]
    """open: a publishable key is enough to add items. token: a contributor or owner token is required as well."""
    item_access: Literal["owner", "open"]
    """The access of items that are added from now on. open: anyone with the publishable key lists and reads them. In a
    box it is always owner. Default: "owner".
    """
    wall: bool
    """Whether the collection has a wall: a page that shows the open items without a key. A box cannot have one.
    Default: False.
    """
    item_count: int
    """The number of items that are approved and not archived."""
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    app_state: NotRequired[dict[str, Any]]
    """The app's own state, at most 16 KiB, readable by the owner alone."""


class CreateArtifactData(TypedDict):
    id: str


class CreateCheckoutBody(TypedDict):
    purpose: Literal["license_key", "prefund"]
    """license_key: a key that can be redeemed for a wallet. prefund: credits for the issuer's balance."""
    credits: int
    """Whole credits."""
    success_url: str
    cancel_url: str


class CreateCheckoutData(TypedDict):
    id: str
    url: str
    status: Literal["open", "paid", "expired"]


class CreateConsoleLinkBody(TypedDict):
    kind: Literal["tenant", "operator"]
    tenant_id: NotRequired[str]
    """Required for the kind `tenant`."""


class CreateConsoleLinkData(TypedDict):
    kind: Literal["tenant", "operator"]
    tenant_id: str | None
    url: str
    expires_at: str
    """RFC 3339, UTC, milliseconds."""


class CreateInviteBody(TypedDict):
    uses: NotRequired[int]
    """Default: 1."""
    expires_at: NotRequired[str]
    """RFC 3339, UTC, milliseconds."""


class CreateInviteData(TypedDict):
    id: str
    invite_code: str
    uses: int
    expires_at: str | None
    """RFC 3339, UTC, milliseconds."""


class CreateMemberBody(TypedDict):
    email: str
    role: Literal["owner", "developer", "moderator", "analyst"]
    name: NotRequired[str]


class CreateMemberData(TypedDict):
    id: str
    email: str
    name: str | None
    role: Literal["owner", "developer", "moderator", "analyst"]
    status: Literal["invited", "active"]
    """invited: has not signed in yet."""
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    joined_at: str | None
    """RFC 3339, UTC, milliseconds."""
    invitation: CreateMemberDataInvitation


class CreateMemberDataInvitation(TypedDict):
    url: str
    """Signs in once. Send it to the member over a channel that you trust."""
    expires_at: str
    """RFC 3339, UTC, milliseconds."""


class CreateOperatorCredentialBody(TypedDict):
    name: str
    expires_at: NotRequired[str]
    """RFC 3339, UTC, milliseconds."""


class CreateOperatorCredentialData(TypedDict):
    id: str
    name: str
    hint: str
    """The prefix and the last four characters, to distinguish tokens."""
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    last_used_at: str | None
    """RFC 3339, UTC, milliseconds."""
    expires_at: str | None
    """RFC 3339, UTC, milliseconds."""
    revoked_at: str | None
    """RFC 3339, UTC, milliseconds."""
    token: str


class CreateQuoteBody(TypedDict):
    agent_id: str
    max_minutes: NotRequired[int]
    """Capped at the agent's own max_minutes, which is the default."""


class CreateQuoteData(TypedDict):
    quote: str
    price_credits: int
    """Whole credits."""
    valid_until: str
    """RFC 3339, UTC, milliseconds."""


class CreateTenantBody(TypedDict):
    name: str
    email: NotRequired[str]
    roles: NotRequired[list[Literal["app", "issuer"]]]
    """Absent or empty: both."""


class CreateWebhookEndpointBody(TypedDict):
    url: str
    """https"""
    events: NotRequired[list[EventType]]
    description: NotRequired[str]
    """For people. Sent to nobody."""
    enabled: NotRequired[bool]


class CreateWebhookEndpointData(TypedDict):
    id: str
    """`default`, or whe_…."""
    url: str
    events: list[EventType]
    """The event types to send."""
    enabled: bool
    description: str | None
    secret: NotRequired[str]
    """Signs the deliveries. Returned once."""


class CurateArtifactData(TypedDict):
    ok: Literal[True]
    id: str
    kind: Literal["image", "clip", "card"]
    source: Literal["url", "paint", "produce", "upload"]
    url: str | None
    """Address of the bytes; null until they exist."""
    status: Literal["painting", "ready", "failed", "quota_exceeded"]
    stage: Literal["uploading", "queued", "running", "storing", "done"]
    approved: bool
    published: bool
    hero: bool
    archived: bool
    access: Literal["owner", "open", "email"]
    """Who can see the artifact once it is published. owner: only the owner. open: anyone, also on the share page.
    email: the accounts it is granted to. Default: open.
    """
    title: NotRequired[str]
    alt: NotRequired[str]
    width: NotRequired[int]
    """Pixels."""
    height: NotRequired[int]
    """Pixels."""
    mime: NotRequired[str]
    bytes: NotRequired[int]
    sha256: NotRequired[str]
    """Hex."""
    provider: NotRequired[str]
    """Only for a finished painting: the provider that made it; `local` is the built-in painter. The same `provider`,
    `model` and `seed` repeat it.
    """
    model: NotRequired[str]
    """Only for a finished painting."""
    seed: NotRequired[int]
    """Only for a finished painting: the seed that was sent, or a random one."""
    error: NotRequired[CurateArtifactDataError]
    created_at: str
    """RFC 3339, UTC, milliseconds."""


class CurateArtifactDataError(TypedDict):
    code: str
    message: str


class CurateItemData(TypedDict):
    ok: Literal[True]
    id: str
    type: str
    content: Any
    """The content as it was added. In a collection with a box: a compact JWE."""
    author: str | None
    approved: bool
    archived: bool
    hero: bool
    access: Literal["owner", "open", "email"]
    """Who can read the item. owner: only the owner. open: anyone with the publishable key and the id. email: the
    accounts it is granted to.
    """
    created_at: str
    """RFC 3339, UTC, milliseconds."""


class CurateItemsBody(TypedDict):
    ids: list[str]
    patch: NotRequired[CurationPatch]
    delete: NotRequired[Literal[True]]


class CurateItemsData(TypedDict):
    results: list[CurateItemsDataResultsEntry]


class CurateItemsDataResultsEntry(TypedDict):
    id: str
    status: Literal["updated", "unchanged", "deleted"]


class CurationPatch(TypedDict):
    approved: NotRequired[bool]
    archived: NotRequired[bool]
    hero: NotRequired[bool]
    access: NotRequired[Literal["owner", "open", "email"]]
    """Who can read the item. owner: only the owner. open: anyone with the publishable key and the id. email: the
    accounts it is granted to.
    """
    grant: NotRequired[list[str]]
    revoke: NotRequired[list[str]]


class DeleteOwnTenantBody(TypedDict):
    tenant_id: str


class DeleteOwnTenantData(TypedDict):
    tenant_id: str
    state: Literal["none", "scheduled", "running", "done"]
    """Only a scheduled deletion can be cancelled."""
    requested_at: str | None
    """RFC 3339, UTC, milliseconds."""
    due_at: str | None
    """RFC 3339, UTC, milliseconds."""
    started_at: str | None
    """RFC 3339, UTC, milliseconds."""
    finished_at: str | None
    """RFC 3339, UTC, milliseconds."""
    rows_removed: int
    """Rows of the database that are removed so far."""


class DeleteTenantBody(TypedDict):
    after_days: NotRequired[int]
    """0: as soon as possible. Default: 7."""


class DeleteTenantData(TypedDict):
    tenant_id: str
    state: Literal["none", "scheduled", "running", "done"]
    """Only a scheduled deletion can be cancelled."""
    requested_at: str | None
    """RFC 3339, UTC, milliseconds."""
    due_at: str | None
    """RFC 3339, UTC, milliseconds."""
    started_at: str | None
    """RFC 3339, UTC, milliseconds."""
    finished_at: str | None
    """RFC 3339, UTC, milliseconds."""
    rows_removed: int
    """Rows of the database that are removed so far."""


class Delivery(TypedDict):
    id: str
    """The event of the delivery, sent as webhook-id with every attempt."""
    endpoint: str
    """Where it is sent."""
    type: EventType
    status: Literal["pending", "succeeded", "failed"]
    attempts: int | list[DeliveryAttempts2Entry]
    """How many there were. With `endpoint` in the request: the last 20 of them, the oldest first."""
    response_status: int | None
    """Status of the last attempt; null without a response."""
    error: str | None
    """Why the last attempt failed."""
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    last_attempt_at: str | None
    """RFC 3339, UTC, milliseconds."""
    next_attempt_at: str | None
    """RFC 3339, UTC, milliseconds."""


class DeliveryAttempts2Entry(TypedDict):
    at: str
    """RFC 3339, UTC, milliseconds."""
    status: int | None
    """null: no answer."""
    ms: int
    """Until the answer or the failure."""
    answer: str | None
    """The first 1,024 bytes of the body of the answer, as text."""
    error: str | None
    """Why it failed."""


class Epoch(TypedDict):
    epoch: str
    """The thumbprint (RFC 7638) of the public key."""
    issuer: str
    public_key: RsaPublicJwk
    value: int
    """The value of one token, in whole credits."""
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    expires_at: str | None
    """RFC 3339, UTC, milliseconds."""
    log_proof: NotRequired[str]
    """The inclusion proof in the transparency log (C2SP tlog-proof). It exists some seconds after the epoch."""


class Event(TypedDict):
    id: str
    type: EventType
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    data: dict[str, Any]
    """Ids and the new state, never content or secrets."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""


class GetIssuerBalanceData(TypedDict):
    balance: int
    """Whole credits."""
    currency: Literal["credits"]


class GetKeyLeakPolicyData(TypedDict):
    action: Literal["revoke", "notify"]
    """revoke: a reported key is revoked at once. notify: it stays valid, and you are told."""


class GetRequestLogSettingsData(TypedDict):
    enabled: bool
    """Whether your requests are logged."""
    days: int
    """How long entries are kept. 0: this installation logs no requests."""


class GetTenantDeletionData(TypedDict):
    tenant_id: str
    state: Literal["none", "scheduled", "running", "done"]
    """Only a scheduled deletion can be cancelled."""
    requested_at: str | None
    """RFC 3339, UTC, milliseconds."""
    due_at: str | None
    """RFC 3339, UTC, milliseconds."""
    started_at: str | None
    """RFC 3339, UTC, milliseconds."""
    finished_at: str | None
    """RFC 3339, UTC, milliseconds."""
    rows_removed: int
    """Rows of the database that are removed so far."""


class GetTenantLimitsData(TypedDict):
    limits: GetTenantLimitsDataLimits
    """The limits in force for the tenant."""
    overrides: GetTenantLimitsDataOverrides
    """The limits that differ from the installation's defaults."""
    stored_bytes_used: int
    """Bytes of artifacts that are stored now."""


class GetTenantLimitsDataLimits(TypedDict):
    """The limits in force for the tenant."""

    paints_per_address: int
    """Paintings through publishable keys, per IP address and day."""
    paints_per_collection: int
    """Paintings through publishable keys, per collection and day."""
    paints_per_day: int
    """Paintings from the monthly allowance, through all publishable keys together, per day."""
    upload_bytes_per_address: int
    """Bytes of uploads announced through publishable keys, per IP address and day."""
    stored_bytes: int
    """Bytes of stored artifacts, from any source."""
    open_streams: int
    """Event streams that are open at the same time in each API process."""
    paints_per_month: int
    """Paintings a month without a coupon, through any key."""
    active_sessions: int
    """Sessions that are launching or running."""
    pending_launches: int
    """Pending launches: sessions whose summon key is not used yet."""
    active_generations: int
    """Artifacts whose generation is queued or running."""
    open_uploads: int
    """Uploads that are announced and neither complete nor expired."""
    open_upload_bytes: int
    """Announced bytes of these uploads."""
    open_uploads_in_collection: int
    """Of these uploads, those into one collection."""
    rate_percent: int
    """The rate limits of the tenant and of its keys, in percent of the installation's."""


class GetTenantLimitsDataOverrides(TypedDict):
    """The limits that differ from the installation's defaults."""

    paints_per_address: NotRequired[int]
    """Paintings through publishable keys, per IP address and day."""
    paints_per_collection: NotRequired[int]
    """Paintings through publishable keys, per collection and day."""
    paints_per_day: NotRequired[int]
    """Paintings from the monthly allowance, through all publishable keys together, per day."""
    upload_bytes_per_address: NotRequired[int]
    """Bytes of uploads announced through publishable keys, per IP address and day."""
    stored_bytes: NotRequired[int]
    """Bytes of stored artifacts, from any source."""
    open_streams: NotRequired[int]
    """Event streams that are open at the same time in each API process."""
    paints_per_month: NotRequired[int]
    """Paintings a month without a coupon, through any key."""
    active_sessions: NotRequired[int]
    """Sessions that are launching or running."""
    pending_launches: NotRequired[int]
    """Pending launches: sessions whose summon key is not used yet."""
    active_generations: NotRequired[int]
    """Artifacts whose generation is queued or running."""
    open_uploads: NotRequired[int]
    """Uploads that are announced and neither complete nor expired."""
    open_upload_bytes: NotRequired[int]
    """Announced bytes of these uploads."""
    open_uploads_in_collection: NotRequired[int]
    """Of these uploads, those into one collection."""
    rate_percent: NotRequired[int]
    """The rate limits of the tenant and of its keys, in percent of the installation's."""


class GetTurnCredentialsData(TypedDict):
    iceServers: list[GetTurnCredentialsDataIceServersEntry]
    ttl: int
    """Seconds."""
    expires_at: str
    """RFC 3339, UTC, milliseconds."""


class GetTurnCredentialsDataIceServersEntry(TypedDict):
    urls: list[str]
    username: str
    credential: str


class GetWebhookEndpointData(TypedDict):
    id: str
    """`default`, or whe_…."""
    url: str
    events: list[EventType]
    """The event types to send."""
    enabled: bool
    description: str | None


class GrantCouponBody(TypedDict):
    amount: int
    """Whole credits."""
    wallet_code: NotRequired[str]
    """A wallet code (wlt_…) or coupon (cpn_…)."""
    expires_at: NotRequired[str]
    """RFC 3339, UTC, milliseconds."""
    memo: NotRequired[str]
    """A note for the ledger."""


class GrantCouponData(TypedDict):
    coupon: str
    """Pays for sessions and paintings (cpn_…). Returned once."""
    amount: int
    """Whole credits."""
    expires_at: str | None
    """RFC 3339, UTC, milliseconds."""


class IssueIdTokenBody(TypedDict):
    spk: Spk


class IssueIdTokenData(TypedDict):
    id_token: str
    expires_at: str
    """RFC 3339, UTC, milliseconds."""


class Item(TypedDict):
    id: str
    type: str
    content: Any
    """The content as it was added. In a collection with a box: a compact JWE."""
    author: str | None
    approved: bool
    archived: bool
    hero: bool
    access: Literal["owner", "open", "email"]
    """Who can read the item. owner: only the owner. open: anyone with the publishable key and the id. email: the
    accounts it is granted to.
    """
    created_at: str
    """RFC 3339, UTC, milliseconds."""


class Key(TypedDict):
    id: str
    kind: Literal["secret", "publishable"]
    name: str | None
    hint: str
    """The prefix and the last four characters, to distinguish keys."""
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    last_used_at: str | None
    """RFC 3339, UTC, milliseconds."""
    expires_at: str | None
    """RFC 3339, UTC, milliseconds."""
    revoked_at: str | None
    """RFC 3339, UTC, milliseconds."""
    replaced_by: str | None
    """The id of the key that replaced this one, created with `rotates` set to the id of this key. If this key was
    rotated several times, it is the first replacement, as long as that key or one of its own replacements is valid.
    """


class KeyCreate(TypedDict):
    kind: Literal["secret", "publishable"]
    name: NotRequired[str]
    expires_at: NotRequired[str]
    """RFC 3339, UTC, milliseconds."""
    rotates: NotRequired[str]
    overlap_seconds: NotRequired[int]
    """Only together with rotates. Seconds."""


class KeyCreated(TypedDict):
    id: str
    kind: Literal["secret", "publishable"]
    name: str | None
    hint: str
    """The prefix and the last four characters, to distinguish keys."""
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    last_used_at: str | None
    """RFC 3339, UTC, milliseconds."""
    expires_at: str | None
    """RFC 3339, UTC, milliseconds."""
    revoked_at: str | None
    """RFC 3339, UTC, milliseconds."""
    replaced_by: str | None
    """The id of the key that replaced this one, created with `rotates` set to the id of this key. If this key was
    rotated several times, it is the first replacement, as long as that key or one of its own replacements is valid.
    """
    key: str


class LicenseRedemption(TypedDict):
    license_key: str
    """A license key (lic_…)."""
    recovery_key: NotRequired[PublicJwk]


class ListAgentToolsData(TypedDict):
    tools: list[ToolShown]


class ListAllAgentsDataEntry(TypedDict):
    id: str
    tenant_id: str
    name: str
    status: Literal["draft", "active", "private", "suspended", "pending"]


class ListAuditLogDataEntry(TypedDict):
    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    actor: ListAuditLogDataEntryActor
    operation: str
    """The operation, as the API names it."""
    targets: dict[str, str | float]
    """The ids of the resources that the call changed. Never content or a secret."""
    outcome: Literal["done", "refused"]
    code: str | None
    """The error code, if the call was refused."""
    address: str | None
    """The IP address of the caller."""
    request_id: str | None


class ListAuditLogDataEntryActor(TypedDict):
    kind: Literal["operator", "member", "key", "anyone", "system"]
    id: str | None
    """The credential, member or key. `bootstrap`: the token that ATRIUM_ADMIN_TOKEN sets."""
    name: str | None
    """The name of an operator's credential."""


class ListAuditsDataEntry(TypedDict):
    id: str
    state: Literal["queued", "running", "done", "failed"]
    """failed: it did not end within ten minutes."""
    rules_checked: int
    """The rules that are checked so far."""
    rules: int
    """The rules that it checks."""
    accounts: int | None
    transfers: int | None
    credits: int | None
    """Credits in circulation."""
    finding_count: int
    """Inconsistencies; at most 1,000 are reported."""
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    started_at: str | None
    """RFC 3339, UTC, milliseconds."""
    finished_at: str | None
    """RFC 3339, UTC, milliseconds."""


class ListCertificatesDataEntry(TypedDict):
    digest: str
    """SHA-256 of the signed text, in hex."""
    git_commit: str | None
    function_code_sha256: str | None
    """Base64."""
    source_sha256: str | None
    """Base64."""
    egress: list[str]
    """Where the service may connect."""
    key_thumbprint: str
    """The thumbprint (RFC 7638) of the key that signed it."""
    first_seen_at: str | None
    """RFC 3339, UTC, milliseconds."""
    last_seen_at: str | None
    """RFC 3339, UTC, milliseconds."""


class ListCheckoutsDataEntry(TypedDict):
    id: str
    url: str | None
    """The payment page; null once the checkout is paid or expired, or while a payment is being processed."""
    status: Literal["open", "paid", "expired"]
    purpose: Literal["license_key", "prefund"]
    """license_key: a key that can be redeemed for a wallet. prefund: credits for the issuer's balance."""
    credits: int
    """Whole credits."""
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    expires_at: str
    """RFC 3339, UTC, milliseconds."""


class ListCollectionsDataEntry(TypedDict):
    id: str
    state: Literal["open", "ready", "closed"]
    contributor_policy: Literal["open", "token"]
    """open: a publishable key is enough to add items. token: a contributor or owner token is required as well."""
    item_count: int
    """The number of items that are approved and not archived."""
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    metadata: dict[str, Any]
    """The app's own configuration, at most 16 KiB. The share page reads share_title, share_description and theme
    ("light", "dark", "paper", "neon", or an object of CSS colours). The wall reads these, and wall_layout ("cards",
    "book" or "stage").
    """


class ListEventHashesDataEntry(TypedDict):
    sequence: int
    type: EventType
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    content_hash: str
    """SHA-256. Of the event without `hash` and `prev_hash`."""
    hash: str | None
    """SHA-256. Of `prev_hash` and `content_hash`. null: numbered by a release without it."""


class ListInvitesDataEntry(TypedDict):
    id: str
    hint: str | None
    """The prefix and the last four characters. null: created before hints were stored."""
    state: Literal["active", "used", "expired", "revoked"]
    uses: int | None
    """Sign-ups that it was created for. null: created before this was stored."""
    uses_left: int
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    expires_at: str | None
    """RFC 3339, UTC, milliseconds."""


class ListKeyLeaksDataEntry(TypedDict):
    key_id: str
    key_name: str | None
    key_hint: str
    """The prefix and the last four characters."""
    action: Literal["revoked", "notified", "ended"]
    """revoked: by the report. notified: the key stayed valid. ended: it had been revoked or had expired before."""
    first_seen_at: str
    """RFC 3339, UTC, milliseconds."""
    last_seen_at: str
    """RFC 3339, UTC, milliseconds."""
    places: list[ListKeyLeaksDataEntryPlacesEntry]
    """Where the key was found, the first 20 places."""
    requests: ListKeyLeaksDataEntryRequests
    """What the request log has of this key. Requests with a revoked key are refused and not logged."""


class ListKeyLeaksDataEntryPlacesEntry(TypedDict):
    url: str | None
    """As it was reported. Not checked."""
    source: str | None
    first_seen_at: str
    """RFC 3339, UTC, milliseconds."""


class ListKeyLeaksDataEntryRequests(TypedDict):
    """What the request log has of this key. Requests with a revoked key are refused and not logged."""

    count: int
    since: str | None
    """The oldest of these requests."""
    last_at: str | None
    """RFC 3339, UTC, milliseconds."""
    origins: list[ListKeyLeaksDataEntryRequestsOriginsEntry]
    """By the Origin header, the ten with the most requests. null: servers."""
    last: list[ListKeyLeaksDataEntryRequestsLastEntry]
    """The last five requests, newest first."""
    searched_from: str | None
    """Older requests were not searched, because there are many. null: the whole log was searched."""


class ListKeyLeaksDataEntryRequestsLastEntry(TypedDict):
    request_id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    method: str
    path: str
    status: int
    origin: str | None


class ListKeyLeaksDataEntryRequestsOriginsEntry(TypedDict):
    origin: str | None
    count: int


class ListMembersDataEntry(TypedDict):
    id: str
    email: str
    name: str | None
    role: Literal["owner", "developer", "moderator", "analyst"]
    status: Literal["invited", "active"]
    """invited: has not signed in yet."""
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    joined_at: str | None
    """RFC 3339, UTC, milliseconds."""


class ListOpenItemsDataEntry(TypedDict):
    id: str
    type: str
    content: Any
    """The content as it was added."""
    author: str | None
    hero: bool
    created_at: str
    """RFC 3339, UTC, milliseconds."""


class ListOperatorAuditLogDataEntry(TypedDict):
    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    actor: ListOperatorAuditLogDataEntryActor
    operation: str
    """The operation, as the API names it."""
    targets: dict[str, str | float]
    """The ids of the resources that the call changed. Never content or a secret."""
    outcome: Literal["done", "refused"]
    code: str | None
    """The error code, if the call was refused."""
    address: str | None
    """The IP address of the caller."""
    request_id: str | None
    tenant_id: str | None


class ListOperatorAuditLogDataEntryActor(TypedDict):
    kind: Literal["operator", "member", "key", "anyone", "system"]
    id: str | None
    """The credential, member or key. `bootstrap`: the token that ATRIUM_ADMIN_TOKEN sets."""
    name: str | None
    """The name of an operator's credential."""


class ListOperatorCredentialsDataEntry(TypedDict):
    id: str
    name: str
    hint: str
    """The prefix and the last four characters, to distinguish tokens."""
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    last_used_at: str | None
    """RFC 3339, UTC, milliseconds."""
    expires_at: str | None
    """RFC 3339, UTC, milliseconds."""
    revoked_at: str | None
    """RFC 3339, UTC, milliseconds."""


class ListProcessesDataEntry(TypedDict):
    id: str
    role: Literal["api", "worker"]
    state: Literal["running", "silent"]
    """silent: it has not written its row for 30 seconds."""
    host: str
    """The name of the machine or container."""
    pid: int
    version: str
    """The release, and the start of its commit if that is known."""
    node: str
    memory_bytes: int
    """Resident memory."""
    started_at: str
    """RFC 3339, UTC, milliseconds."""
    beat_at: str
    """RFC 3339, UTC, milliseconds."""


class ListReceiptsDataEntry(TypedDict):
    id: str
    receipt: str
    """A compact JWS (RFC 7515): ES256, `typ: receipt+jwt`, by a key of `/.well-known/jwks.json`. Its claims: `iss`
    (the API origin), `jti` (the id), `iat`, `kind`, `sub` (the session, artifact or checkout, or the transaction of
    a grant), `price`, `charged`, `held_at`, `joined_at`, `stopped_at`, `coupon_sha256` (hex, of the code that paid,
    or of the coupon that was granted) and `seq`. Of a session with a budget also what it used in all: `budget` and
    `used` (credits), `tokens` and `tool_calls`. The `charged` of its receipts sum to its charge.
    """
    kind: Literal["session", "budget", "paint", "grant", "checkout", "refund", "loss", "recovery", "reinstatement"]
    """session: the price. budget: what the agent of a session used; one for the launch and one for each top-up.
    refund: credits that were taken back because their payment was returned. loss: those that were spent or held.
    recovery: a part of a loss that is none any more, because the credits were taken back later or the payment came
    back. reinstatement: credits that were given back because the payment came back: a dispute was won.
    """
    amount: int
    """The credits that were charged, granted or sold: `charged` of the receipt."""
    created_at: str
    """RFC 3339, UTC, milliseconds."""


class ListRequestsDataEntry(TypedDict):
    request_id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    method: str
    path: str
    """The path as the API declares it, such as `/collections/{id}/items`, without ids."""
    status: int
    code: str | None
    """The error code, if the request failed."""
    doc_url: str | None
    """The page about that error."""
    key_id: str
    key_hint: str | None
    """The prefix and the last four characters of the key."""
    duration_ms: float
    """From the request's headers to the answer."""
    origin: str | None
    """The Origin header, which browsers send. Null: a server sent the request."""


class ListStorageDataEntry(TypedDict):
    tenant_id: str
    name: str
    stored_bytes: int
    """Bytes of its artifacts."""


class ListTenantsDataEntry(TypedDict):
    id: str
    name: str
    roles: list[Literal["app", "issuer"]]
    """Never empty: a tenant that was made without roles holds both."""
    status: Literal["active", "suspended"]
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    deletion: ListTenantsDataEntryDeletion | None
    """The deletion of the tenant and when it begins. Only a scheduled one can be cancelled."""


class ListTenantsDataEntryDeletion(TypedDict):
    """The deletion of the tenant and when it begins. Only a scheduled one can be cancelled."""

    state: Literal["scheduled", "running", "done"]
    due_at: str
    """RFC 3339, UTC, milliseconds."""


class ListWebhookEndpointsDataEntry(TypedDict):
    id: str
    """`default`, or whe_…."""
    url: str
    events: list[EventType]
    """The event types to send."""
    enabled: bool
    description: str | None


class LookUpBalanceProofsBody(TypedDict):
    wallet_code: str
    """A wallet code (wlt_…) or coupon (cpn_…)."""
    day: NotRequired[str]
    """UTC. Default: the last day with a root."""


class LookUpBalanceProofsData(TypedDict):
    books: LookUpBalanceProofsDataBooks | None
    """null: there is no root of this day."""
    proofs: list[LookUpBalanceProofsDataProofsEntry]
    """One for each of the accounts that held credits on this day; none for a day more than a week ago."""


class LookUpBalanceProofsDataBooks(TypedDict):
    """null: there is no root of this day."""

    day: str
    """The books at the beginning of this day (UTC), or soon after."""
    accounts: int
    """How many accounts held credits."""
    total: int
    """The credits in circulation: the sum of all balances."""
    root: str
    """64 hexadecimal digits: the hash of the root."""
    log_proof: str
    """The address of the inclusion proof in the transparency log."""


class LookUpBalanceProofsDataProofsEntry(TypedDict):
    account: str
    """The name of the account in the books."""
    balance: int
    """What it held."""
    salt: str
    """64 hexadecimal digits: what hides the account from those whose proofs show this leaf."""
    path: list[LookUpBalanceProofsDataProofsEntryPathEntry]
    """The nodes beside the path, from the leaf up to the root."""


class LookUpBalanceProofsDataProofsEntryPathEntry(TypedDict):
    side: Literal["left", "right"]
    """On which side of the path this node is."""
    sum: int
    """What the accounts below this node hold."""
    hash: str
    """64 hexadecimal digits: the hash of this node."""


class LookUpOutcomeBody(TypedDict):
    idempotency_key: str
    """The header of the request."""
    operation: str
    """The operationId, such as launchSession."""
    path: str
    """The path of the request from the origin on, without its query, such as /v1/sessions."""
    body_sha256: str
    """SHA-256 of the bytes of its body, in lower-case hex; of no bytes if its operation takes no body."""


class LookUpOutcomeData(TypedDict):
    state: Literal["none", "in_progress", "done"]
    status: NotRequired[int]
    answer: NotRequired[Any]
    """The body of the stored answer, with `data` and `meta`."""
    expires_at: NotRequired[str]
    """RFC 3339, UTC, milliseconds."""


class LookUpReceiptsBody(TypedDict):
    wallet_code: str
    """A wallet code (wlt_…) or coupon (cpn_…)."""
    limit: NotRequired[int]
    """The largest number of entries. A page of large entries ends earlier, with a next_cursor. Default: 50."""
    cursor: NotRequired[str]
    """meta.next_cursor of the previous page, unchanged."""


class LookUpReceiptsDataEntry(TypedDict):
    id: str
    receipt: str
    """A compact JWS (RFC 7515): ES256, `typ: receipt+jwt`, by a key of `/.well-known/jwks.json`. Its claims: `iss`
    (the API origin), `jti` (the id), `iat`, `kind`, `sub` (the session, artifact or checkout, or the transaction of
    a grant), `price`, `charged`, `held_at`, `joined_at`, `stopped_at`, `coupon_sha256` (hex, of the code that paid,
    or of the coupon that was granted) and `seq`. Of a session with a budget also what it used in all: `budget` and
    `used` (credits), `tokens` and `tool_calls`. The `charged` of its receipts sum to its charge.
    """
    kind: Literal["session", "budget", "paint", "grant", "checkout", "refund", "loss", "recovery", "reinstatement"]
    """session: the price. budget: what the agent of a session used; one for the launch and one for each top-up.
    refund: credits that were taken back because their payment was returned. loss: those that were spent or held.
    recovery: a part of a loss that is none any more, because the credits were taken back later or the payment came
    back. reinstatement: credits that were given back because the payment came back: a dispute was won.
    """
    amount: int
    """The credits that were charged, granted or sold: `charged` of the receipt."""
    created_at: str
    """RFC 3339, UTC, milliseconds."""


class LookUpWalletBody(TypedDict):
    wallet_code: str
    """A wallet code (wlt_…) or coupon (cpn_…)."""


class LookUpWalletData(TypedDict):
    balance: int
    """Whole credits."""
    held: int
    """Whole credits."""
    currency: Literal["credits"]


class ModerateAgentBody(TypedDict):
    status: Literal["suspended", "pending", "lifted"]


class ModerateAgentData(TypedDict):
    id: str
    tenant_id: str
    name: str
    status: Literal["draft", "active", "private", "suspended", "pending"]


class PaintArtifactBody(TypedDict):
    prompt: str
    size: NotRequired[Literal["1024x1024", "1536x1024", "1024x1536"]]
    """Width × height in pixels. Default: "1024x1024"."""
    provider: NotRequired[Literal["openai", "anthropic", "google", "openai_compatible", "local"]]
    """Default: the first provider with a key, else local."""
    model: NotRequired[str]
    """The provider's name of the model."""
    seed: NotRequired[int]
    coupon: NotRequired[str]
    """A coupon (cpn_…) or wallet code (wlt_…) that pays."""


class ProduceArtifactBody(TypedDict):
    kind: Literal["card", "clip"]
    title: NotRequired[str]
    items: NotRequired[list[str]]
    artifacts: NotRequired[list[str]]
    template: NotRequired[str]
    """Name of a built-in layout. Absent: the default layout."""


class ProveBalancesData(TypedDict):
    books: ProveBalancesDataBooks | None
    """null: there is no root of this day."""
    proofs: list[ProveBalancesDataProofsEntry]
    """One for each of the accounts that held credits on this day; none for a day more than a week ago."""


class ProveBalancesDataBooks(TypedDict):
    """null: there is no root of this day."""

    day: str
    """The books at the beginning of this day (UTC), or soon after."""
    accounts: int
    """How many accounts held credits."""
    total: int
    """The credits in circulation: the sum of all balances."""
    root: str
    """64 hexadecimal digits: the hash of the root."""
    log_proof: str
    """The address of the inclusion proof in the transparency log."""


class ProveBalancesDataProofsEntry(TypedDict):
    account: str
    """The name of the account in the books."""
    balance: int
    """What it held."""
    salt: str
    """64 hexadecimal digits: what hides the account from those whose proofs show this leaf."""
    path: list[ProveBalancesDataProofsEntryPathEntry]
    """The nodes beside the path, from the leaf up to the root."""


class ProveBalancesDataProofsEntryPathEntry(TypedDict):
    side: Literal["left", "right"]
    """On which side of the path this node is."""
    sum: int
    """What the accounts below this node hold."""
    hash: str
    """64 hexadecimal digits: the hash of this node."""


class ProveEventHeadData(TypedDict):
    heads: ProveEventHeadDataHeads | None
    """null: there is no root of this day."""
    proof: ProveEventHeadDataProof | None
    """null: the tenant had no chain on this day, or the day is more than a week ago."""


class ProveEventHeadDataHeads(TypedDict):
    """null: there is no root of this day."""

    day: str
    """The heads at the beginning of this day (UTC), or soon after."""
    chains: int
    """How many tenants have a chain."""
    root: str
    """The hash of the root."""
    log_proof: str
    """The address of the inclusion proof in the transparency log."""


class ProveEventHeadDataProof(TypedDict):
    """null: the tenant had no chain on this day, or the day is more than a week ago."""

    head: str
    """The name of the leaf: the id of the tenant, `sequence` and `hash`, with slashes between."""
    sequence: int
    """Of the last event."""
    hash: str
    """SHA-256. `hash` of the last event."""
    salt: str
    """What hides the head from those whose proofs show this leaf."""
    path: list[ProveEventHeadDataProofPathEntry]
    """The nodes beside the path, from the leaf up to the root."""


class ProveEventHeadDataProofPathEntry(TypedDict):
    side: Literal["left", "right"]
    """On which side of the path this node is."""
    chains: int
    """How many chains are below this node."""
    hash: str
    """The hash of this node."""


class ProviderKeys(TypedDict):
    providers: ProviderKeysProviders


class ProviderKeysProviders(TypedDict):
    openai: NotRequired[ProviderKeysProvidersOpenai]
    anthropic: NotRequired[ProviderKeysProvidersAnthropic]
    google: NotRequired[ProviderKeysProvidersGoogle]
    openai_compatible: NotRequired[ProviderKeysProvidersOpenaiCompatible]


class ProviderKeysProvidersAnthropic(TypedDict):
    hint: str
    """The last four characters."""
    url: NotRequired[str]
    """Base URL of an openai_compatible service."""
    set_at: str
    """RFC 3339, UTC, milliseconds."""


class ProviderKeysProvidersGoogle(TypedDict):
    hint: str
    """The last four characters."""
    url: NotRequired[str]
    """Base URL of an openai_compatible service."""
    set_at: str
    """RFC 3339, UTC, milliseconds."""


class ProviderKeysProvidersOpenai(TypedDict):
    hint: str
    """The last four characters."""
    url: NotRequired[str]
    """Base URL of an openai_compatible service."""
    set_at: str
    """RFC 3339, UTC, milliseconds."""


class ProviderKeysProvidersOpenaiCompatible(TypedDict):
    hint: str
    """The last four characters."""
    url: NotRequired[str]
    """Base URL of an openai_compatible service."""
    set_at: str
    """RFC 3339, UTC, milliseconds."""


class PublicJwk(TypedDict):
    """A public JWK (RFC 7517): EC P-256 or OKP X25519, without its private part."""

    kty: Literal["EC", "OKP"]
    crv: Literal["P-256", "X25519"]
    x: str
    y: NotRequired[str]
    kid: NotRequired[str]
    use: NotRequired[str]
    alg: NotRequired[str]
    ext: NotRequired[bool]
    key_ops: NotRequired[list[str]]


class PublishEpochBody(TypedDict):
    public_key: RsaPublicJwk
    value: int
    """Whole credits."""
    expires_at: NotRequired[str]
    """RFC 3339, UTC, milliseconds."""


class PublishEpochData(TypedDict):
    epoch: str
    """The thumbprint (RFC 7638) of the public key."""


class RateAgentBody(TypedDict):
    stars: int


class RateAgentData(TypedDict):
    agent_id: str
    stars: int
    created_at: str
    """RFC 3339, UTC, milliseconds."""


class RatingAggregate(TypedDict):
    average: float | None
    """Stars, to two decimals; null without a rating."""
    count: int


class ReadAuditData(TypedDict):
    id: str
    state: Literal["queued", "running", "done", "failed"]
    """failed: it did not end within ten minutes."""
    rules_checked: int
    """The rules that are checked so far."""
    rules: int
    """The rules that it checks."""
    accounts: int | None
    transfers: int | None
    credits: int | None
    """Credits in circulation."""
    finding_count: int
    """Inconsistencies; at most 1,000 are reported."""
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    started_at: str | None
    """RFC 3339, UTC, milliseconds."""
    finished_at: str | None
    """RFC 3339, UTC, milliseconds."""
    findings: list[ReadAuditDataFindingsEntry]


class ReadAuditDataFindingsEntry(TypedDict):
    rule: str
    subject: str
    """The account or hold, as tenant/id."""
    detail: str


class ReadLedgerProofData(TypedDict):
    proof: ReadLedgerProofDataProof | None


class ReadLedgerProofDataProof(TypedDict):
    findings: int
    """Inconsistencies that the last step found."""
    credits: int
    """Credits in circulation."""
    proved_at: str
    """RFC 3339, UTC, milliseconds."""
    full_at: str
    """When everything was last read."""


class ReadQueuesData(TypedDict):
    queues: list[ReadQueuesDataQueuesEntry]
    sweeps: list[ReadQueuesDataSweepsEntry]
    log_stopped: str | None
    """Why the transparency log signs nothing, such as the witness that it waits for after a restore. null: it signs."""


class ReadQueuesDataQueuesEntry(TypedDict):
    name: Literal["artifact_jobs", "blob_deletions", "event_outbox", "sessions", "webhook_deliveries"]
    depth: int
    """Entries that are due and that no worker has taken. Counted up to 10,000."""
    oldest_seconds: float
    """How long the oldest of these has waited. 0: there is none."""


class ReadQueuesDataSweepsEntry(TypedDict):
    name: str
    interval_seconds: float
    running: bool
    """Whether a process runs it now."""
    ran_at: str | None
    """When it last ran to its end."""
    failed_at: str | None
    """When it last failed. The log of that process has the reason."""
    late: bool
    """Whether it last ran to its end more than three intervals and a minute ago."""


class ReadSpaceData(TypedDict):
    url: str
    """The public origin of the Space service."""
    state: Literal["answering", "invalid", "unreachable"]
    certificate: ReadSpaceDataCertificate | None


class ReadSpaceDataCertificate(TypedDict):
    digest: str
    """SHA-256 of the signed text, in hex."""
    git_commit: str | None
    function_code_sha256: str | None
    """Base64."""
    source_sha256: str | None
    """Base64."""
    egress: list[str]
    """Where the service may connect."""
    key_thumbprint: str
    """The thumbprint (RFC 7638) of the key that signed it."""
    first_seen_at: str | None
    """RFC 3339, UTC, milliseconds."""
    last_seen_at: str | None
    """RFC 3339, UTC, milliseconds."""


class ReadStorageData(TypedDict):
    database: ReadStorageDataDatabase
    blobs: ReadStorageDataBlobs


class ReadStorageDataBlobs(TypedDict):
    store: str
    """The store of blobs: `disk` or `s3`."""
    artifact_bytes: int
    """Bytes of the artifacts of all tenants."""
    free_bytes: int | None
    """Free on the disk. null: S3."""
    disk_bytes: int | None
    """Size of the disk. null: S3."""


class ReadStorageDataDatabase(TypedDict):
    bytes: int
    """Size of the database, on the coordinator where it is Citus."""
    tables: list[ReadStorageDataDatabaseTablesEntry]


class ReadStorageDataDatabaseTablesEntry(TypedDict):
    name: str
    bytes: int
    """With indexes."""
    rows: int | None
    """An estimate. null: not analyzed yet."""


class ReadTenantData(TypedDict):
    id: str
    name: str
    roles: list[Literal["app", "issuer"]]
    """Never empty: a tenant that was made without roles holds both."""
    status: Literal["active", "suspended"]
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    deletion: ReadTenantDataDeletion | None
    """The deletion of the tenant and when it begins. Only a scheduled one can be cancelled."""
    email: str | None
    active_keys: int
    """Keys that are neither revoked nor expired."""
    last_used_at: str | None
    """RFC 3339, UTC, milliseconds."""


class ReadTenantDataDeletion(TypedDict):
    """The deletion of the tenant and when it begins. Only a scheduled one can be cancelled."""

    state: Literal["scheduled", "running", "done"]
    due_at: str
    """RFC 3339, UTC, milliseconds."""


class ReadVersionsData(TypedDict):
    release: str
    commit: str | None
    """The commit that the release archive was made from. null: the process does not run from one."""
    api: str
    """The version of the API."""
    node: str
    postgresql: str
    citus: str | None
    schema: ReadVersionsDataSchema
    functions: list[ReadVersionsDataFunctionsEntry]
    """The SQL functions of the database."""


class ReadVersionsDataFunctionsEntry(TypedDict):
    name: str
    version: int


class ReadVersionsDataSchema(TypedDict):
    newest: str | None
    """The newest migration that the database has."""
    migrations: int
    """Migrations that the database has."""
    pending: list[str]
    """Migrations and SQL functions that are not applied."""


class RecoverDeliveriesBody(TypedDict):
    since: str
    """RFC 3339, UTC, milliseconds."""
    pending: NotRequired[bool]
    """Whether deliveries that have failed, and wait for their next attempt, are also sent at once. Default: false.
    Default: False.
    """
    cursor: NotRequired[str]
    """next_cursor of the previous answer, unchanged, with the same `since` and `pending`."""


class RecoverDeliveriesData(TypedDict):
    queued: int
    """How many this call has queued."""
    next_cursor: NotRequired[str]
    """Present if there may be more, which are not queued yet. Send the same request with it as `cursor`, until an
    answer has none.
    """


class RedeemWalletData(TypedDict):
    wallet_code: str
    """Anyone who has it can spend the wallet (wlt_…). Returned once."""
    balance: int
    """Whole credits."""


class ReportLeakedKeysBodyEntry(TypedDict):
    token: str
    """What was found."""
    type: str
    """The name of the pattern that found it. Returned as `token_type`."""
    url: NotRequired[str]
    """Where it was found; empty: unknown."""
    source: NotRequired[str]
    """In what it was found, such as `commit`."""


class ReportLeakedKeysDataEntry(TypedDict):
    token_hash: str
    """The SHA-256 of the token, in hexadecimal."""
    token_type: str
    label: Literal["true_positive", "false_positive"]


class ResealSecretsData(TypedDict):
    resealed: int
    """Values that this call resealed."""
    keys: list[ResealSecretsDataKeysEntry]
    """The configured keys in order, of which the first one seals; then other keys that are still needed."""


class ResealSecretsDataKeysEntry(TypedDict):
    id: str
    """Identifies the master key: the start of its hash, which is not secret."""
    configured: bool
    values: int
    """Values that are sealed under this key."""
    answers: int
    """Stored answers of Idempotency-Keys that are sealed under this key. They are not resealed; they expire."""
    answers_until: str | None
    """RFC 3339, UTC, milliseconds."""
    processes: int
    """Processes that run and seal under this key. Restart them with the new key first, then call this again."""


class RotateCollectionTokensBody(TypedDict):
    rotate: list[Literal["admin_token", "contributor_token"]]


class RotateCollectionTokensData(TypedDict):
    id: str
    admin_token: NotRequired[str]
    contributor_token: NotRequired[str]


class RsaPublicJwk(TypedDict):
    """A public RSA JWK (RFC 7517) of 2,048 to 4,096 bits, n and e without leading zero bytes, e odd and at least 3, n
    without small factors.
    """

    kty: Literal["RSA"]
    n: str
    e: str
    kid: NotRequired[str]
    use: NotRequired[Literal["sig"]]
    alg: NotRequired[str]
    ext: NotRequired[bool]
    key_ops: NotRequired[list[str]]


class Session(TypedDict):
    id: str
    agent_id: str
    room: str
    """The room, without its key."""
    status: Literal["armed", "launching", "running", "paused", "stopping", "stopped", "failed", "expired"]
    control_token: str
    """Reads and stops this session (sct_…). Returned once."""
    price_credits: int
    """Whole credits."""
    budget_credits: NotRequired[int]
    """Only of a session with a budget: what is held for use."""
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    expires_at: str
    """RFC 3339, UTC, milliseconds."""


class SessionAlreadyPresent(TypedDict):
    id: str
    agent_id: str
    room: str
    """The room, without its key."""
    already_present: Literal[True]


class SessionArmed(TypedDict):
    id: str
    status: Literal["armed"]
    summon_key: str
    """Starts the pending launch, and can start it again after each session (sk_…). Returned once."""
    agent_id: str
    room: str
    """The room, without its key."""
    expires_at: str
    """RFC 3339, UTC, milliseconds."""
    card: NotRequired[str]
    """Only of a hosted agent for a room whose lines the clients seal: the card of the device with which the operator
    of the agent will read along. The owner of the room consents by a list that names it (`hosted`), and then uses
    the summon key, once, before `expires_at`.
    """


class SessionLaunch(TypedDict):
    agent_id: str
    room: SessionLaunchRoom
    coupon: str
    """The coupon (cpn_…) or wallet code (wlt_…) that pays. Stored sealed, and only while needed."""
    max_price_credits: NotRequired[int]
    """The price that the buyer saw, in whole credits. If the agent now costs more, nothing is launched (409
    `price_changed`).
    """
    quote: NotRequired[str]
    """A quote of `POST /quotes` for this agent. The launch costs at most the quoted price."""
    budget_credits: NotRequired[int]
    """Held beside the price, and pays what the agent uses: `credits_per_1k_tokens` and `credits_per_tool_call` of the
    agent. When it is used up, the session pauses. Without it, use is neither counted nor charged.
    """
    arm: NotRequired[bool]
    """true: prepares a pending launch and returns its summon key, without launching or charging. Default: False."""
    max_minutes: NotRequired[int]
    """Capped at the agent's own max_minutes."""
    metadata: NotRequired[dict[str, Any]]
    """Data of the app for the agent, at most 16 KiB."""


class SessionLaunchRoom(TypedDict):
    room: str
    mk: NotRequired[str]
    """The room key. Stored sealed, and only while the session needs it. Required without `sealed_key`, except for a
    prepared launch (`arm`) of a hosted agent into a room whose lines the clients seal.
    """
    sealed_key: NotRequired[str]
    """In place of `mk`, for a room whose lines the clients seal, and a remote agent with an `encryption_key`: a
    compact JWE (RFC 7516) for that key, with `"alg":"ECDH-ES"`, `"enc":"A256GCM"` and, as `kid`, the RFC 7638
    thumbprint of the key. It is passed on to the agent. This service cannot open it.
    """


class SessionStatus(TypedDict):
    id: str
    agent_id: str
    room: str
    """The room, without its key."""
    status: Literal["armed", "launching", "running", "paused", "stopping", "stopped", "failed", "expired"]
    price_credits: int
    """The amount held at launch, in whole credits."""
    charged_credits: int
    """The amount captured when the session stopped, in whole credits: the price and, of a session with a budget, what
    was used. 0 until then, and if the agent never joined.
    """
    budget_credits: NotRequired[int]
    """Only of a session with a budget: what was held for use, at the launch and by top-ups."""
    used_credits: NotRequired[int]
    """Only of a session with a budget: the price of what was used. The last answer of the model may exceed the budget;
    only a top-up pays for that part.
    """
    used_tokens: NotRequired[int]
    """Only of a session with a budget: tokens that the model read and wrote. Estimated where its provider reports
    none.
    """
    used_tool_calls: NotRequired[int]
    """Only of a session with a budget."""
    max_minutes: int
    """The longest duration from the launch on, in minutes."""
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    joined_at: str | None
    """RFC 3339, UTC, milliseconds."""
    stopped_at: str | None
    """RFC 3339, UTC, milliseconds."""
    expires_at: str
    """RFC 3339, UTC, milliseconds."""
    error: NotRequired[SessionStatusError]


class SessionStatusError(TypedDict):
    code: str
    message: str


class SetAgentStatusBody(TypedDict):
    status: Literal["draft", "active", "private"]


class SetCollectionStateBody(TypedDict):
    state: NotRequired[Literal["open", "ready", "closed"]]
    app_state: NotRequired[dict[str, Any]]
    """The app's own state, at most 16 KiB, readable by the owner alone."""


class SetCollectionStateData(TypedDict):
    id: str
    state: Literal["open", "ready", "closed"]
    app_state: NotRequired[dict[str, Any]]
    """The app's own state, at most 16 KiB, readable by the owner alone."""


class SetKeyLeakPolicyBody(TypedDict):
    action: Literal["revoke", "notify"]
    """revoke: a reported key is revoked at once. notify: it stays valid, and you are told."""


class SetKeyLeakPolicyData(TypedDict):
    action: Literal["revoke", "notify"]
    """revoke: a reported key is revoked at once. notify: it stays valid, and you are told."""


class SetProviderKeysBody(TypedDict):
    openai: NotRequired[str | None]
    """The key; null removes it."""
    anthropic: NotRequired[str | None]
    """The key; null removes it."""
    google: NotRequired[str | None]
    """The key; null removes it."""
    openai_compatible: NotRequired[SetProviderKeysBodyOpenaiCompatible | None]


class SetProviderKeysBodyOpenaiCompatible(TypedDict):
    url: str
    """Base URL, such as https://models.example/v1. https, with a public address."""
    key: str


class SetRequestLogSettingsBody(TypedDict):
    enabled: bool


class SetRequestLogSettingsData(TypedDict):
    enabled: bool
    """Whether your requests are logged."""
    days: int
    """How long entries are kept. 0: this installation logs no requests."""


class SetTenantLimitsBody(TypedDict):
    paints_per_address: NotRequired[int]
    """Paintings through publishable keys, per IP address and day."""
    paints_per_collection: NotRequired[int]
    """Paintings through publishable keys, per collection and day."""
    paints_per_day: NotRequired[int]
    """Paintings from the monthly allowance, through all publishable keys together, per day."""
    upload_bytes_per_address: NotRequired[int]
    """Bytes of uploads announced through publishable keys, per IP address and day."""
    stored_bytes: NotRequired[int]
    """Bytes of stored artifacts, from any source."""
    open_streams: NotRequired[int]
    """Event streams that are open at the same time in each API process."""
    paints_per_month: NotRequired[int]
    """Paintings a month without a coupon, through any key."""
    active_sessions: NotRequired[int]
    """Sessions that are launching or running."""
    pending_launches: NotRequired[int]
    """Pending launches: sessions whose summon key is not used yet."""
    active_generations: NotRequired[int]
    """Artifacts whose generation is queued or running."""
    open_uploads: NotRequired[int]
    """Uploads that are announced and neither complete nor expired."""
    open_upload_bytes: NotRequired[int]
    """Announced bytes of these uploads."""
    open_uploads_in_collection: NotRequired[int]
    """Of these uploads, those into one collection."""
    rate_percent: NotRequired[int]
    """The rate limits of the tenant and of its keys, in percent of the installation's."""


class SetTenantLimitsData(TypedDict):
    limits: SetTenantLimitsDataLimits
    """The limits in force for the tenant."""
    overrides: SetTenantLimitsDataOverrides
    """The limits that differ from the installation's defaults."""
    stored_bytes_used: int
    """Bytes of artifacts that are stored now."""


class SetTenantLimitsDataLimits(TypedDict):
    """The limits in force for the tenant."""

    paints_per_address: int
    """Paintings through publishable keys, per IP address and day."""
    paints_per_collection: int
    """Paintings through publishable keys, per collection and day."""
    paints_per_day: int
    """Paintings from the monthly allowance, through all publishable keys together, per day."""
    upload_bytes_per_address: int
    """Bytes of uploads announced through publishable keys, per IP address and day."""
    stored_bytes: int
    """Bytes of stored artifacts, from any source."""
    open_streams: int
    """Event streams that are open at the same time in each API process."""
    paints_per_month: int
    """Paintings a month without a coupon, through any key."""
    active_sessions: int
    """Sessions that are launching or running."""
    pending_launches: int
    """Pending launches: sessions whose summon key is not used yet."""
    active_generations: int
    """Artifacts whose generation is queued or running."""
    open_uploads: int
    """Uploads that are announced and neither complete nor expired."""
    open_upload_bytes: int
    """Announced bytes of these uploads."""
    open_uploads_in_collection: int
    """Of these uploads, those into one collection."""
    rate_percent: int
    """The rate limits of the tenant and of its keys, in percent of the installation's."""


class SetTenantLimitsDataOverrides(TypedDict):
    """The limits that differ from the installation's defaults."""

    paints_per_address: NotRequired[int]
    """Paintings through publishable keys, per IP address and day."""
    paints_per_collection: NotRequired[int]
    """Paintings through publishable keys, per collection and day."""
    paints_per_day: NotRequired[int]
    """Paintings from the monthly allowance, through all publishable keys together, per day."""
    upload_bytes_per_address: NotRequired[int]
    """Bytes of uploads announced through publishable keys, per IP address and day."""
    stored_bytes: NotRequired[int]
    """Bytes of stored artifacts, from any source."""
    open_streams: NotRequired[int]
    """Event streams that are open at the same time in each API process."""
    paints_per_month: NotRequired[int]
    """Paintings a month without a coupon, through any key."""
    active_sessions: NotRequired[int]
    """Sessions that are launching or running."""
    pending_launches: NotRequired[int]
    """Pending launches: sessions whose summon key is not used yet."""
    active_generations: NotRequired[int]
    """Artifacts whose generation is queued or running."""
    open_uploads: NotRequired[int]
    """Uploads that are announced and neither complete nor expired."""
    open_upload_bytes: NotRequired[int]
    """Announced bytes of these uploads."""
    open_uploads_in_collection: NotRequired[int]
    """Of these uploads, those into one collection."""
    rate_percent: NotRequired[int]
    """The rate limits of the tenant and of its keys, in percent of the installation's."""


class SetTenantStatusBody(TypedDict):
    status: Literal["active", "suspended"]


class SetWebhookBody(TypedDict):
    url: str
    """https"""
    events: NotRequired[list[EventType]]
    enabled: NotRequired[bool]
    rotate_secret: NotRequired[bool]


class SetWebhookData(TypedDict):
    url: str
    events: list[EventType]
    """The event types to send."""
    enabled: bool
    secret: NotRequired[str]
    """Signs the deliveries. Returned once."""


class SignUpTenantBody(TypedDict):
    invite_code: str
    name: str
    email: str


class SpaceAdmit(TypedDict):
    op: Literal["admit"]
    room: str
    mk: str
    """The room key: at least 128 bits, printable ASCII without spaces."""
    emails: NotRequired[list[str]]
    agents: NotRequired[list[str]]
    """Agents to admit."""
    idToken: NotRequired[str]
    """A fresh ID token (RS256) whose nonce is the thumbprint of spk: of the identity provider for an account, of the
    API origin for an agent.
    """
    spk: NotRequired[Spk]
    proof: NotRequired[str]
    """Compact JWS (ES256) by spk over {op, room, iat, sha256}. sha256 (hex) is the hash of: for turn, the message as
    JSON with its members in the order text, reply_to, client_id, name, where name is that of the request; for poll,
    the empty text; for all other ops, the other members of the request (without op, room, mk, idToken, spk, proof,
    signature) as canonical JSON (RFC 8785). If it is present, it must verify. It is valid for five minutes. Sending
    it again changes nothing.
    """


class SpaceAppend(TypedDict):
    op: Literal["append"]
    room: str
    line: str
    """A JWE as flattened JSON (RFC 7516), or as general JSON for a line with the list of devices, in exactly this
    spelling. The service stores it with `"unprotected":{"seq":n,"prev":"…"}` behind its first member: its number,
    and the hash of the line before it (absent on line 0). Up to 64 KiB.
    """
    dedupe: str
    """A random value. A repeat with the same one is stored once, and answered with the number of the stored line."""
    spk: NotRequired[Spk]
    proof: NotRequired[str]
    """Compact JWS (ES256) by spk over {op, room, iat, sha256}. sha256 (hex) is the hash of: for turn, the message as
    JSON with its members in the order text, reply_to, client_id, name, where name is that of the request; for poll,
    the empty text; for all other ops, the other members of the request (without op, room, mk, idToken, spk, proof,
    signature) as canonical JSON (RFC 8785). If it is present, it must verify. It is valid for five minutes. Sending
    it again changes nothing.
    """
    signature: str
    """Compact JWS with the header {alg: "EdDSA", typ: "atrium-room+jws"} by the access key over {aud, htm, op, room,
    iat, sha256}: the origin of the Space service, POST, the op, the room, the time in seconds, and the SHA-256
    (base64url) of the other members of the request as canonical JSON (RFC 8785). It is valid for five minutes
    before and after iat.
    """


class SpaceAppendAnswer(TypedDict):
    ok: Literal[True]
    seq: int
    etag: str
    """SHA-256 of the last line, which commits to the whole history."""
    count: int
    """Lines of the room."""


class SpaceAttest(TypedDict):
    op: Literal["attest"]
    nonce: NotRequired[str]


class SpaceAttestAnswer(TypedDict):
    service: str
    gitCommit: str
    runtime: str
    signed: NotRequired[str]
    """With nonce: the exact text that was signed."""
    sig: NotRequired[str]
    """ES256 by the certificate's key."""


class SpaceChanged(TypedDict):
    ok: Literal[True]
    etag: NotRequired[str]
    """SHA-256 of the last line, which commits to the whole history."""
    count: NotRequired[int]
    """Lines of the room."""


class SpaceCreate(TypedDict):
    op: Literal["create"]
    room: str
    mk: str
    """The room key: at least 128 bits, printable ASCII without spaces."""
    policy: Literal["open", "email"]
    """open: anyone with the link. email: the accounts and agents on its list."""
    allow: NotRequired[list[str]]
    agents: NotRequired[list[str]]
    """Agents to admit."""
    title: NotRequired[str]
    require_proof: NotRequired[bool]
    idToken: NotRequired[str]
    """A fresh ID token (RS256) whose nonce is the thumbprint of spk: of the identity provider for an account, of the
    API origin for an agent.
    """
    spk: NotRequired[Spk]
    proof: NotRequired[str]
    """Compact JWS (ES256) by spk over {op, room, iat, sha256}. sha256 (hex) is the hash of: for turn, the message as
    JSON with its members in the order text, reply_to, client_id, name, where name is that of the request; for poll,
    the empty text; for all other ops, the other members of the request (without op, room, mk, idToken, spk, proof,
    signature) as canonical JSON (RFC 8785). If it is present, it must verify. It is valid for five minutes. Sending
    it again changes nothing.
    """


class SpaceEntry(TypedDict):
    seq: int
    """Number of the line."""
    id: str
    at: str
    """RFC 3339, UTC, milliseconds."""
    author: SpaceEntryAuthor
    message: SpaceEntryMessage


class SpaceEntryAuthor(TypedDict):
    kind: Literal["anonymous", "account", "agent"]
    id: NotRequired[str]
    """Only for an agent: its id."""
    name: NotRequired[str]
    """Of kind anonymous: only claimed. Nobody verifies it."""
    email: NotRequired[str]
    """Only for an account: its e-mail address."""
    key: NotRequired[str]
    """Thumbprint of the device key."""
    proven: NotRequired[bool]
    """The message had a valid proof by the device key."""


class SpaceEntryMessage(TypedDict):
    text: str
    reply_to: NotRequired[str]
    client_id: NotRequired[str]
    """Returned only to the author: the caller with the same spk."""


class SpaceExpel(TypedDict):
    op: Literal["expel"]
    room: str
    mk: str
    """The room key: at least 128 bits, printable ASCII without spaces."""
    emails: NotRequired[list[str]]
    agents: NotRequired[list[str]]
    """Agents to admit."""
    idToken: NotRequired[str]
    """A fresh ID token (RS256) whose nonce is the thumbprint of spk: of the identity provider for an account, of the
    API origin for an agent.
    """
    spk: NotRequired[Spk]
    proof: NotRequired[str]
    """Compact JWS (ES256) by spk over {op, room, iat, sha256}. sha256 (hex) is the hash of: for turn, the message as
    JSON with its members in the order text, reply_to, client_id, name, where name is that of the request; for poll,
    the empty text; for all other ops, the other members of the request (without op, room, mk, idToken, spk, proof,
    signature) as canonical JSON (RFC 8785). If it is present, it must verify. It is valid for five minutes. Sending
    it again changes nothing.
    """


class SpaceMake(TypedDict):
    op: Literal["make"]
    room: str
    access: str
    """The public access key of the room: Ed25519, the x of its JWK."""
    line: str
    """A JWE as flattened JSON (RFC 7516), or as general JSON for a line with the list of devices, in exactly this
    spelling. The service stores it with `"unprotected":{"seq":n,"prev":"…"}` behind its first member: its number,
    and the hash of the line before it (absent on line 0). Up to 64 KiB.
    """
    spk: NotRequired[Spk]
    proof: NotRequired[str]
    """Compact JWS (ES256) by spk over {op, room, iat, sha256}. sha256 (hex) is the hash of: for turn, the message as
    JSON with its members in the order text, reply_to, client_id, name, where name is that of the request; for poll,
    the empty text; for all other ops, the other members of the request (without op, room, mk, idToken, spk, proof,
    signature) as canonical JSON (RFC 8785). If it is present, it must verify. It is valid for five minutes. Sending
    it again changes nothing.
    """
    signature: str
    """Compact JWS with the header {alg: "EdDSA", typ: "atrium-room+jws"} by the access key over {aud, htm, op, room,
    iat, sha256}: the origin of the Space service, POST, the op, the room, the time in seconds, and the SHA-256
    (base64url) of the other members of the request as canonical JSON (RFC 8785). It is valid for five minutes
    before and after iat.
    """


class SpacePoll(TypedDict):
    op: Literal["poll"]
    room: str
    mk: str
    """The room key: at least 128 bits, printable ASCII without spaces."""
    sinceEtag: NotRequired[str]
    """etag of the previous answer; empty at first."""
    sinceCount: NotRequired[int]
    """count of the previous answer; 0 at first."""
    waitMs: NotRequired[int]
    """Milliseconds to wait for new lines (long polling). For a room that does not exist, or when too many polls are
    waiting, the answer comes at once: poll again after a pause.
    """
    limit: NotRequired[int]
    """The largest number of lines. A page of large lines ends earlier, see count."""
    idToken: NotRequired[str]
    """A fresh ID token (RS256) whose nonce is the thumbprint of spk: of the identity provider for an account, of the
    API origin for an agent.
    """
    spk: NotRequired[Spk]
    proof: NotRequired[str]
    """Compact JWS (ES256) by spk over {op, room, iat, sha256}. sha256 (hex) is the hash of: for turn, the message as
    JSON with its members in the order text, reply_to, client_id, name, where name is that of the request; for poll,
    the empty text; for all other ops, the other members of the request (without op, room, mk, idToken, spk, proof,
    signature) as canonical JSON (RFC 8785). If it is present, it must verify. It is valid for five minutes. Sending
    it again changes nothing.
    """


class SpacePollAnswer(TypedDict):
    etag: str
    """SHA-256 of the last line, which commits to the whole history."""
    count: int
    """Lines of the room."""
    entries: list[SpaceEntry]
    policy: Literal["open", "email"]
    """open: anyone with the link. email: the accounts and agents on its list."""
    title: NotRequired[str]


class SpaceRead(TypedDict):
    op: Literal["read"]
    room: str
    sinceEtag: NotRequired[str]
    """etag of the previous answer; empty at first."""
    sinceCount: NotRequired[int]
    """count of the previous answer; 0 at first."""
    waitMs: NotRequired[int]
    """Milliseconds to wait for new lines (long polling). For a room that does not exist, or when too many polls are
    waiting, the answer comes at once: poll again after a pause.
    """
    limit: NotRequired[int]
    """The largest number of lines. A page of large lines ends earlier, see count."""
    spk: NotRequired[Spk]
    proof: NotRequired[str]
    """Compact JWS (ES256) by spk over {op, room, iat, sha256}. sha256 (hex) is the hash of: for turn, the message as
    JSON with its members in the order text, reply_to, client_id, name, where name is that of the request; for poll,
    the empty text; for all other ops, the other members of the request (without op, room, mk, idToken, spk, proof,
    signature) as canonical JSON (RFC 8785). If it is present, it must verify. It is valid for five minutes. Sending
    it again changes nothing.
    """
    signature: str
    """Compact JWS with the header {alg: "EdDSA", typ: "atrium-room+jws"} by the access key over {aud, htm, op, room,
    iat, sha256}: the origin of the Space service, POST, the op, the room, the time in seconds, and the SHA-256
    (base64url) of the other members of the request as canonical JSON (RFC 8785). It is valid for five minutes
    before and after iat.
    """


class SpaceReadAnswer(TypedDict):
    etag: str
    """SHA-256 of the last line, which commits to the whole history."""
    count: int
    """Lines of the room."""
    lines: list[str]
    """The stored lines, unchanged. The reader checks their chain."""


class SpaceRemove(TypedDict):
    op: Literal["remove"]
    room: str
    mk: str
    """The room key: at least 128 bits, printable ASCII without spaces."""
    idToken: NotRequired[str]
    """A fresh ID token (RS256) whose nonce is the thumbprint of spk: of the identity provider for an account, of the
    API origin for an agent.
    """
    spk: NotRequired[Spk]
    proof: NotRequired[str]
    """Compact JWS (ES256) by spk over {op, room, iat, sha256}. sha256 (hex) is the hash of: for turn, the message as
    JSON with its members in the order text, reply_to, client_id, name, where name is that of the request; for poll,
    the empty text; for all other ops, the other members of the request (without op, room, mk, idToken, spk, proof,
    signature) as canonical JSON (RFC 8785). If it is present, it must verify. It is valid for five minutes. Sending
    it again changes nothing.
    """


class SpaceRename(TypedDict):
    op: Literal["rename"]
    room: str
    mk: str
    """The room key: at least 128 bits, printable ASCII without spaces."""
    title: str
    idToken: NotRequired[str]
    """A fresh ID token (RS256) whose nonce is the thumbprint of spk: of the identity provider for an account, of the
    API origin for an agent.
    """
    spk: NotRequired[Spk]
    proof: NotRequired[str]
    """Compact JWS (ES256) by spk over {op, room, iat, sha256}. sha256 (hex) is the hash of: for turn, the message as
    JSON with its members in the order text, reply_to, client_id, name, where name is that of the request; for poll,
    the empty text; for all other ops, the other members of the request (without op, room, mk, idToken, spk, proof,
    signature) as canonical JSON (RFC 8785). If it is present, it must verify. It is valid for five minutes. Sending
    it again changes nothing.
    """


class SpaceSealed(TypedDict):
    op: Literal["sealed"]
    room: str


class SpaceSealedAnswer(TypedDict):
    alg: Literal["A256GCM"]
    bytes: int
    """Length of sealed in UTF-8."""
    sha256: str
    """Of exactly the string sealed, as UTF-8."""
    recipients: list[str]
    """Who can decrypt, as read from the stored lines. room: the room key. unnamed: recipients without a name of up to
    128 characters, or after 10,000 others.
    """
    sealed: str
    """The records, one per line of text, each a JWE in general JSON form (RFC 7516)."""


class SpaceTurn(TypedDict):
    op: Literal["turn"]
    room: str
    mk: str
    """The room key: at least 128 bits, printable ASCII without spaces."""
    message: SpaceTurnMessage
    name: NotRequired[str]
    """The name that a guest claims; nobody verifies it. Callers with an idToken have the name in it."""
    idToken: NotRequired[str]
    """A fresh ID token (RS256) whose nonce is the thumbprint of spk: of the identity provider for an account, of the
    API origin for an agent.
    """
    spk: NotRequired[Spk]
    proof: NotRequired[str]
    """Compact JWS (ES256) by spk over {op, room, iat, sha256}. sha256 (hex) is the hash of: for turn, the message as
    JSON with its members in the order text, reply_to, client_id, name, where name is that of the request; for poll,
    the empty text; for all other ops, the other members of the request (without op, room, mk, idToken, spk, proof,
    signature) as canonical JSON (RFC 8785). If it is present, it must verify. It is valid for five minutes. Sending
    it again changes nothing.
    """


class SpaceTurnAnswer(TypedDict):
    ok: Literal[True]
    seq: int
    id: str
    at: str
    """RFC 3339, UTC, milliseconds."""
    etag: str
    """SHA-256 of the last line, which commits to the whole history."""
    count: int
    """Lines of the room."""


class SpaceTurnMessage(TypedDict):
    text: str
    """Up to 16 KiB: 16,384 bytes of UTF-8."""
    reply_to: NotRequired[str]
    """id of an entry."""
    client_id: NotRequired[str]
    """A repeat with the same one is stored once."""


class Spk(TypedDict):
    """The device's signing key, public part only. Other members are ignored."""

    kty: Literal["EC"]
    crv: Literal["P-256"]
    x: str
    y: str


class StartAuditData(TypedDict):
    id: str
    state: Literal["queued", "running", "done", "failed"]
    """failed: it did not end within ten minutes."""
    rules_checked: int
    """The rules that are checked so far."""
    rules: int
    """The rules that it checks."""
    accounts: int | None
    transfers: int | None
    credits: int | None
    """Credits in circulation."""
    finding_count: int
    """Inconsistencies; at most 1,000 are reported."""
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    started_at: str | None
    """RFC 3339, UTC, milliseconds."""
    finished_at: str | None
    """RFC 3339, UTC, milliseconds."""


class StopSessionData(TypedDict):
    sessionId: str
    status: Literal["stopped"]


class SummariseRequestsData(TypedDict):
    enabled: bool
    """Whether your requests are logged."""
    sampled: bool
    """Whether `p95_ms` is an estimate from a sample."""
    buckets: list[SummariseRequestsDataBucketsEntry]


class SummariseRequestsDataBucketsEntry(TypedDict):
    at: str
    """When the hour or day (UTC) begins."""
    requests: int
    refused: int
    """Answered with 4xx."""
    failed: int
    """Answered with 5xx."""
    p95_ms: float | None
    """95 percent of the answers took no longer. Null: there was no request."""


class SummonSessionBody(TypedDict):
    summon_key: str


class Tenant(TypedDict):
    id: str
    name: str
    roles: list[Literal["app", "issuer"]]
    """Never empty: a tenant that was made without roles holds both."""
    status: Literal["active", "suspended"]
    created_at: str
    """RFC 3339, UTC, milliseconds."""


class TenantCreated(TypedDict):
    tenant: Tenant
    secret_key: str
    """Full scope, for servers only. Returned once."""
    publishable_key: str
    """Safe in a browser. Returned once."""


class TestWebhookBody(TypedDict):
    type: NotRequired[EventType]
    endpoint: NotRequired[str]
    """Where to send it. Default: `default`."""


class TestWebhookData(TypedDict):
    delivered: bool
    """Whether the endpoint answered 2xx."""
    response_status: int | None
    error: str | None
    duration_ms: int


class TokenRedemption(TypedDict):
    token: str
    """The prepared message: a random prefix of 32 bytes, then the message. Canonical base64url."""
    sig: str
    """The unblinded signature. Canonical base64url."""
    epoch: str
    """The thumbprint (RFC 7638) of the public key."""
    recovery_key: NotRequired[PublicJwk]


class ToolDeclValue1(TypedDict):
    name: str
    description: str
    parameters: dict[str, Any]
    """JSON Schema (2020-12) of the arguments; its type is object. At most 16 KiB and 24 levels deep; patterns of at
    most 200 characters; $ref only into itself.
    """
    url: str
    """An https URL with a public address. Stored in normalised form."""
    secret: NotRequired[str | None]
    """Sealed at rest and never returned. null removes it."""


class ToolDeclValue2(TypedDict):
    mcp: str
    """An https URL with a public address. Stored in normalised form."""
    secret: NotRequired[str | None]
    """Sealed at rest and never returned. null removes it."""


class ToolShown(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str]
    parameters: NotRequired[dict[str, Any]]
    """JSON Schema (2020-12) of the arguments; its type is object. At most 16 KiB and 24 levels deep; patterns of at
    most 200 characters; $ref only into itself.
    """
    url: NotRequired[str]
    mcp: NotRequired[str]
    has_secret: bool


class TopUpSessionBody(TypedDict):
    coupon: str
    """The coupon (cpn_…) or wallet code (wlt_…) that pays. It is not stored."""
    budget_credits: int
    """What is added to the budget, in whole credits."""


class UpdateCollectionData(TypedDict):
    id: str
    metadata: dict[str, Any]
    """The app's own configuration, at most 16 KiB. The share page reads share_title, share_description and theme
    ("light", "dark", "paper", "neon", or an object of CSS colours). The wall reads these, and wall_layout ("cards",
    "book" or "stage").
    """
    state: Literal["open", "ready", "closed"]
    contributor_policy: Literal["open", "token"]
    """open: a publishable key is enough to add items. token: a contributor or owner token is required as well."""
    item_access: Literal["owner", "open"]
    """The access of items that are added from now on. open: anyone with the publishable key lists and reads them. In a
    box it is always owner. Default: "owner".
    """
    wall: bool
    """Whether the collection has a wall: a page that shows the open items without a key. A box cannot have one.
    Default: False.
    """
    item_count: int
    """The number of items that are approved and not archived."""
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    app_state: NotRequired[dict[str, Any]]
    """The app's own state, at most 16 KiB, readable by the owner alone."""
    contributor_token: NotRequired[str]


class UpdateMemberBody(TypedDict):
    role: NotRequired[Literal["owner", "developer", "moderator", "analyst"]]
    name: NotRequired[str | None]
    invite: NotRequired[Literal[True]]


class UpdateMemberData(TypedDict):
    id: str
    email: str
    name: str | None
    role: Literal["owner", "developer", "moderator", "analyst"]
    status: Literal["invited", "active"]
    """invited: has not signed in yet."""
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    joined_at: str | None
    """RFC 3339, UTC, milliseconds."""
    invitation: NotRequired[UpdateMemberDataInvitation]


class UpdateMemberDataInvitation(TypedDict):
    url: str
    """Signs in once. Send it to the member over a channel that you trust."""
    expires_at: str
    """RFC 3339, UTC, milliseconds."""


class UpdateTenantBody(TypedDict):
    name: NotRequired[str]
    email: NotRequired[str | None]
    roles: NotRequired[list[Literal["app", "issuer"]]]


class UpdateTenantData(TypedDict):
    id: str
    name: str
    roles: list[Literal["app", "issuer"]]
    """Never empty: a tenant that was made without roles holds both."""
    status: Literal["active", "suspended"]
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    deletion: UpdateTenantDataDeletion | None
    """The deletion of the tenant and when it begins. Only a scheduled one can be cancelled."""
    email: str | None
    active_keys: int
    """Keys that are neither revoked nor expired."""
    last_used_at: str | None
    """RFC 3339, UTC, milliseconds."""


class UpdateTenantDataDeletion(TypedDict):
    """The deletion of the tenant and when it begins. Only a scheduled one can be cancelled."""

    state: Literal["scheduled", "running", "done"]
    due_at: str
    """RFC 3339, UTC, milliseconds."""


class UpdateWebhookEndpointBody(TypedDict):
    url: NotRequired[str]
    """https"""
    events: NotRequired[list[EventType] | None]
    description: NotRequired[str | None]
    """For people. Sent to nobody."""
    enabled: NotRequired[bool]
    rotate_secret: NotRequired[bool]


class UpdateWebhookEndpointData(TypedDict):
    id: str
    """`default`, or whe_…."""
    url: str
    events: list[EventType]
    """The event types to send."""
    enabled: bool
    description: str | None
    secret: NotRequired[str]
    """Signs the deliveries. Returned once."""


class UploadArtifactBody(TypedDict):
    kind: Literal["image", "clip", "card"]
    mime: Literal["image/png", "image/jpeg", "image/webp", "image/avif", "image/gif", "video/mp4", "video/webm"]
    bytes: int
    """The exact length."""
    sha256: NotRequired[str]
    """SHA-256, lower-case hex."""
    title: NotRequired[str]
    alt: NotRequired[str]
    """What the picture shows, for people who cannot see it."""


class UploadArtifactData(TypedDict):
    id: str
    upload: UploadArtifactDataUpload


class UploadArtifactDataUpload(TypedDict):
    method: Literal["PUT"]
    url: str
    headers: dict[str, str]
    """Send them unchanged."""
    expires_at: str
    """RFC 3339, UTC, milliseconds."""


class UsageRow(TypedDict):
    period: str
    """The day (2026-11-20) or month (2026-11), UTC."""
    meter: Literal["requests", "items", "paints", "launches", "credits", "bytes"]
    quantity: int


class Webhook(TypedDict):
    url: str
    events: list[EventType]
    """The event types to send."""
    enabled: bool


EventType: TypeAlias = "Literal['item.created', 'item.updated', 'item.deleted', 'collection.created', 'collection.updated', 'collection.state_changed', 'collection.deleted', 'artifact.ready', 'artifact.failed', 'artifact.published', 'artifact.deleted', 'session.started', 'session.joined', 'session.paused', 'session.stopped', 'session.failed', 'wallet.redeemed', 'coupon.granted', 'checkout.paid', 'checkout.refunded', 'checkout.recovered', 'checkout.reinstated', 'key.created', 'key.revoked', 'key.leaked', 'key.expiring', 'member.added', 'member.removed', 'webhook.disabled', 'tenant.status_changed']"


ListMovementsDataEntry = TypedDict(
    "ListMovementsDataEntry",
    {
        "id": "str",
        "kind": "Literal[\"prefund\", \"sale\", \"redemption\", \"grant\", \"return\", \"fee\", \"hold\", \"capture\", \"release\", \"refund\", \"loss\"]",
        "from": "Literal[\"platform\", \"issuer\", \"revenue\", \"wallet\", \"coupon\", \"license\", \"held\", \"loss\"]",
        "to": "Literal[\"platform\", \"issuer\", \"revenue\", \"wallet\", \"coupon\", \"license\", \"held\", \"loss\"]",
        "amount": "int",
        "memo": "str | None",
        "created_at": "str",
    },
)


SpaceAnswer: TypeAlias = "SpacePollAnswer | SpaceTurnAnswer | SpaceSealedAnswer | SpaceAttestAnswer | SpaceChanged | SpaceReadAnswer | SpaceAppendAnswer"


SpaceRequest: TypeAlias = "SpacePoll | SpaceTurn | SpaceSealed | SpaceAttest | SpaceCreate | SpaceAdmit | SpaceExpel | SpaceRename | SpaceRemove | SpaceMake | SpaceRead | SpaceAppend"


ToolDecl: TypeAlias = "ToolDeclValue1 | ToolDeclValue2"


class ItemCreatedEventData(TypedDict):
    collection_id: str
    item_id: str
    type: str
    """As it was added; `sealed` in a box."""
    approved: bool
    archived: bool
    hero: bool
    access: Literal["owner", "open", "email"]


class ItemCreatedEvent(TypedDict):
    """An item was added. Someone added an item to a collection."""

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["item.created"]
    data: ItemCreatedEventData


class ItemUpdatedEventData(TypedDict):
    collection_id: str
    item_id: str
    type: str
    """As it was added; `sealed` in a box."""
    approved: bool
    archived: bool
    hero: bool
    access: Literal["owner", "open", "email"]


class ItemUpdatedEvent(TypedDict):
    """An item was curated. Its curation flags or its access changed. An item that loses the hero flag to another one
    also has this event. Changes of an access list are not.
    """

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["item.updated"]
    data: ItemUpdatedEventData


class ItemDeletedEventData(TypedDict):
    collection_id: str
    item_id: str


class ItemDeletedEvent(TypedDict):
    """An item was deleted. Only for single deletions: a deleted collection sends only `collection.deleted`, without an
    event for each item.
    """

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["item.deleted"]
    data: ItemDeletedEventData


class CollectionCreatedEventData(TypedDict):
    collection_id: str
    state: Literal["open", "ready", "closed"]
    contributor_policy: Literal["open", "token"]
    item_access: Literal["owner", "open"]
    wall: bool


class CollectionCreatedEvent(TypedDict):
    """A collection was created. It starts in state open."""

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["collection.created"]
    data: CollectionCreatedEventData


class CollectionUpdatedEventData(TypedDict):
    collection_id: str
    state: Literal["open", "ready", "closed"]
    contributor_policy: Literal["open", "token"]
    item_access: Literal["owner", "open"]
    wall: bool
    changed: list[Literal["metadata", "contributor_policy", "item_access", "wall", "admin_token", "contributor_token"]]


class CollectionUpdatedEvent(TypedDict):
    """A collection was changed. Its metadata, policy or visibility changed, or a token was rotated. `changed` names
    the fields; metadata and tokens are never part of an event.
    """

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["collection.updated"]
    data: CollectionUpdatedEventData


class CollectionStateChangedEventData(TypedDict):
    collection_id: str
    state: Literal["open", "ready", "closed"]
    previous: Literal["open", "ready", "closed"]


class CollectionStateChangedEvent(TypedDict):
    """A collection changed its state. The new state: ready or closed."""

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["collection.state_changed"]
    data: CollectionStateChangedEventData


class CollectionDeletedEventData(TypedDict):
    collection_id: str


class CollectionDeletedEvent(TypedDict):
    """A collection was deleted. Its items and artifacts were deleted with it."""

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["collection.deleted"]
    data: CollectionDeletedEventData


class ArtifactReadyEventData(TypedDict):
    collection_id: str
    artifact_id: str
    kind: Literal["image", "clip", "card"]
    source: Literal["url", "paint", "produce", "upload"]


class ArtifactReadyEvent(TypedDict):
    """An artifact is ready. It was added by URL, painted, produced or uploaded."""

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["artifact.ready"]
    data: ArtifactReadyEventData


class ArtifactFailedEventData(TypedDict):
    collection_id: str
    artifact_id: str
    kind: Literal["image", "clip", "card"]
    source: Literal["url", "paint", "produce", "upload"]
    status: Literal["failed", "quota_exceeded"]
    error_code: str


class ArtifactFailedEvent(TypedDict):
    """An artifact could not be made. `status` is `failed` or `quota_exceeded`."""

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["artifact.failed"]
    data: ArtifactFailedEventData


class ArtifactPublishedEventData(TypedDict):
    collection_id: str
    artifact_id: str
    kind: Literal["image", "clip", "card"]
    source: Literal["url", "paint", "produce", "upload"]


class ArtifactPublishedEvent(TypedDict):
    """An artifact was published. Its access decides who can see it."""

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["artifact.published"]
    data: ArtifactPublishedEventData


class ArtifactDeletedEventData(TypedDict):
    collection_id: str
    artifact_id: str


class ArtifactDeletedEvent(TypedDict):
    """An artifact was deleted. Only for single deletions: a deleted collection sends only `collection.deleted`."""

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["artifact.deleted"]
    data: ArtifactDeletedEventData


class SessionStartedEventData(TypedDict):
    session_id: str
    agent_id: str
    room: str
    """Without its key."""


class SessionStartedEvent(TypedDict):
    """A session started. The agent joined the room."""

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["session.started"]
    data: SessionStartedEventData


class SessionJoinedEventData(TypedDict):
    session_id: str
    agent_id: str
    room: str
    """Without its key."""
    joined_at: str
    """RFC 3339, UTC, milliseconds."""
    price_credits: int
    """Whole credits."""


class SessionJoinedEvent(TypedDict):
    """An agent joined its room. Once a session, when its agent joins for the first time; from then on the price is
    due. It is recorded together with `session.started`, which stays as it was, and has the time and the price.
    """

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["session.joined"]
    data: SessionJoinedEventData


class SessionPausedEventData(TypedDict):
    session_id: str
    agent_id: str
    room: str
    """Without its key."""
    budget_credits: int
    """What was held for use. Whole credits."""
    used_credits: int
    """What was used. Whole credits."""


class SessionPausedEvent(TypedDict):
    """A session paused. Its budget is used up. The agent stays in the room and answers again after `POST
    /sessions/{id}/top-up`.
    """

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["session.paused"]
    data: SessionPausedEventData


class SessionStoppedEventData(TypedDict):
    session_id: str
    agent_id: str
    room: str
    """Without its key."""
    status: Literal["stopped", "expired"]
    charged_credits: int
    """What was captured. Whole credits."""


class SessionStoppedEvent(TypedDict):
    """A session stopped. It was stopped, or its time limit was reached (`expired`)."""

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["session.stopped"]
    data: SessionStoppedEventData


class SessionFailedEventData(TypedDict):
    session_id: str
    agent_id: str
    room: str
    """Without its key."""
    error_code: str
    charged_credits: int
    """What was captured. Whole credits."""


class SessionFailedEvent(TypedDict):
    """A session failed. The agent did not join, or could not continue."""

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["session.failed"]
    data: SessionFailedEventData


class WalletRedeemedEventData(TypedDict):
    transaction_id: str
    method: Literal["license_key", "token"]
    epoch: str | None
    """The epoch of the token; null for a license key."""
    amount: int
    """Whole credits."""


class WalletRedeemedEvent(TypedDict):
    """A wallet was redeemed. A license key or a blind token was redeemed for a wallet. Only the answer to that call
    contains the wallet code.
    """

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["wallet.redeemed"]
    data: WalletRedeemedEventData


class CouponGrantedEventData(TypedDict):
    transaction_id: str
    amount: int
    """Whole credits."""
    source: Literal["issuer", "wallet", "coupon"]
    expires_at: str | None
    """RFC 3339, UTC, milliseconds."""


class CouponGrantedEvent(TypedDict):
    """A coupon was granted. Only the answer to that call contains the coupon. `source` is what paid: the balance of
    the issuer, a wallet or a coupon.
    """

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["coupon.granted"]
    data: CouponGrantedEventData


class CheckoutPaidEventData(TypedDict):
    checkout_id: str
    purpose: Literal["license_key", "prefund"]
    credits: int
    """Whole credits."""


class CheckoutPaidEvent(TypedDict):
    """A checkout was paid. The credits were moved. A license key is in the answer of `GET /checkout/{id}`, never in an
    event.
    """

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["checkout.paid"]
    data: CheckoutPaidEventData


class CheckoutRefundedEventData(TypedDict):
    checkout_id: str
    reason: Literal["refund", "dispute"]
    taken: int
    """Whole credits."""
    lost: int
    """Whole credits."""


class CheckoutRefundedEvent(TypedDict):
    """The payment of a checkout was returned. By a refund, or because the buyer disputed it. `taken` credits were
    taken back: from the license key, the wallet that it was redeemed for, or the issuer’s balance. `lost` were
    spent or held, and are booked to the loss account. Credits that return to the wallet or balance later, from a
    hold or an expired coupon, are taken back then.
    """

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["checkout.refunded"]
    data: CheckoutRefundedEventData


class CheckoutRecoveredEventData(TypedDict):
    checkout_id: str
    taken: int
    """Whole credits."""
    owed: int
    """Whole credits."""


class CheckoutRecoveredEvent(TypedDict):
    """A part of a loss was recovered. Credits of a returned payment came back to the wallet, or to the issuer’s
    balance, from a hold or an expired coupon. `taken` of them were taken back. `owed` are still lost.
    """

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["checkout.recovered"]
    data: CheckoutRecoveredEventData


class CheckoutReinstatedEventData(TypedDict):
    checkout_id: str
    returned: int
    """Whole credits."""
    cancelled: int
    """Whole credits."""


class CheckoutReinstatedEvent(TypedDict):
    """A returned payment came back. A dispute was won. `returned` credits, those that had been taken back, are where
    they were taken from. `cancelled` had not been taken back: they are no loss any more.
    """

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["checkout.reinstated"]
    data: CheckoutReinstatedEventData


class KeyCreatedEventData(TypedDict):
    key_id: str
    kind: Literal["secret", "publishable"]
    expires_at: str | None
    """RFC 3339, UTC, milliseconds."""


class KeyCreatedEvent(TypedDict):
    """A key was created. The tenant's first two keys also have this event."""

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["key.created"]
    data: KeyCreatedEventData


class KeyRevokedEventData(TypedDict):
    key_id: str
    kind: Literal["secret", "publishable"]


class KeyRevokedEvent(TypedDict):
    """A key was revoked. It is no longer accepted."""

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["key.revoked"]
    data: KeyRevokedEventData


class KeyLeakedEventData(TypedDict):
    key_id: str
    kind: Literal["secret", "publishable"]
    hint: str
    """The prefix and the last four characters of the key."""
    action: Literal["revoked", "notified", "ended"]
    url: str | None
    """Where it was found. Not checked."""
    source: str | None
    """In what it was found, such as `commit`."""
    first_seen_at: str
    """RFC 3339, UTC, milliseconds."""


class KeyLeakedEvent(TypedDict):
    """A key was found in public. Sent for each place where the key is found, up to 20. `action` is `revoked`,
    `notified` (the key is still valid: revoke it) or `ended` (it was not valid any more).
    """

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["key.leaked"]
    data: KeyLeakedEventData


class KeyExpiringEventData(TypedDict):
    key_id: str
    kind: Literal["secret", "publishable"]
    expires_at: str
    """RFC 3339, UTC, milliseconds."""


class KeyExpiringEvent(TypedDict):
    """A key is about to expire. Sent 7 days before, and again 1 day before. For a key that has less time left when it
    is created, it is sent once. For a key that was rotated, it is not sent while its replacement, or a later one,
    is valid.
    """

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["key.expiring"]
    data: KeyExpiringEventData


class MemberAddedEventData(TypedDict):
    member_id: str
    role: Literal["owner", "developer", "moderator", "analyst"]


class MemberAddedEvent(TypedDict):
    """A member was added. An owner invited a person to the console of the tenant."""

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["member.added"]
    data: MemberAddedEventData


class MemberRemovedEventData(TypedDict):
    member_id: str


class MemberRemovedEvent(TypedDict):
    """A member was removed. The sessions of the member have ended."""

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["member.removed"]
    data: MemberRemovedEventData


class WebhookDisabledEventData(TypedDict):
    endpoint: str
    """The endpoint that was disabled."""
    reason: Literal["gone", "failing"]
    failing_since: str
    """RFC 3339, UTC, milliseconds."""


class WebhookDisabledEvent(TypedDict):
    """The webhook was disabled. Its endpoint answered 410 (`gone`), or every attempt failed for five days (`failing`).
    Nothing more is sent to it, so read this event with `listEvents`.
    """

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["webhook.disabled"]
    data: WebhookDisabledEventData


class TenantStatusChangedEventData(TypedDict):
    status: Literal["active", "suspended"]
    previous: Literal["active", "suspended"]


class TenantStatusChangedEvent(TypedDict):
    """The tenant was suspended or reactivated. The operator changed the status of the tenant."""

    id: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""
    tenant_id: str
    sequence: int
    """Number of the event within the tenant, from 1, without gaps."""
    hash: str | None
    """SHA-256. Of this event and of `prev_hash`. The guide "The chain of events" defines it. null: numbered by a
    release without it.
    """
    prev_hash: str | None
    """SHA-256. `hash` of the event before. null: the chain begins with this event."""
    type: Literal["tenant.status_changed"]
    data: TenantStatusChangedEventData


AnyEvent: TypeAlias = Union[
    ItemCreatedEvent,
    ItemUpdatedEvent,
    ItemDeletedEvent,
    CollectionCreatedEvent,
    CollectionUpdatedEvent,
    CollectionStateChangedEvent,
    CollectionDeletedEvent,
    ArtifactReadyEvent,
    ArtifactFailedEvent,
    ArtifactPublishedEvent,
    ArtifactDeletedEvent,
    SessionStartedEvent,
    SessionJoinedEvent,
    SessionPausedEvent,
    SessionStoppedEvent,
    SessionFailedEvent,
    WalletRedeemedEvent,
    CouponGrantedEvent,
    CheckoutPaidEvent,
    CheckoutRefundedEvent,
    CheckoutRecoveredEvent,
    CheckoutReinstatedEvent,
    KeyCreatedEvent,
    KeyRevokedEvent,
    KeyLeakedEvent,
    KeyExpiringEvent,
    MemberAddedEvent,
    MemberRemovedEvent,
    WebhookDisabledEvent,
    TenantStatusChangedEvent,
]
"""An event. Types may be added: handle one that you do not know by ignoring it."""

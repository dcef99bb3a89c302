-- Tenants, their keys, collections with their items and artifacts, and the answers kept for idempotency.
-- Every table that grows with use has the tenant first in its key, so that the schema shards by tenant. Ids and hashes compare by byte.

create table tenants (
  id text collate "C" not null,
  name text not null,
  email text,
  roles text[],
  status text not null default 'active',
  created_at timestamptz(3) not null default now(),
  constraint tenants_pkey primary key (id),
  constraint tenants_roles_known check (roles <@ array['app', 'issuer']),
  constraint tenants_status_known check (status in ('active', 'suspended'))
);

create table invites (
  code_hash bytea not null,
  uses_left integer not null,
  expires_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  constraint invites_pkey primary key (code_hash),
  constraint invites_uses_left_not_negative check (uses_left >= 0)
);

create table api_keys (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  kind text not null,
  name text,
  hint text not null,
  key_hash bytea not null,
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  constraint api_keys_pkey primary key (tenant_id, id),
  constraint api_keys_hash_unique unique (key_hash),
  constraint api_keys_tenant_exists foreign key (tenant_id) references tenants (id),
  constraint api_keys_kind_known check (kind in ('secret', 'publishable'))
);

-- item_count and last_seq change with every batch of items: room is left on the page, so that the new version stays on it (HOT).
create table collections (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  metadata json not null,
  app_state json not null,
  state text not null default 'open',
  contributor_policy text not null,
  admin_token_hash bytea not null,
  contributor_token_hash bytea,
  box_recipient json,
  item_count bigint not null default 0,
  last_seq bigint not null default 0,
  created_at timestamptz(3) not null default now(),
  constraint collections_pkey primary key (tenant_id, id),
  constraint collections_tenant_exists foreign key (tenant_id) references tenants (id),
  constraint collections_state_known check (state in ('open', 'ready', 'closed')),
  constraint collections_policy_known check (contributor_policy in ('open', 'token')),
  constraint collections_item_count_not_negative check (item_count >= 0)
) with (fillfactor = 70);

-- The share page knows no tenant: an id alone finds its collection.
create index collections_id on collections (id);

-- seq numbers a collection's items without gaps in the order of their commits: the collection's row is locked while they are added.
create table items (
  tenant_id text collate "C" not null,
  collection_id text collate "C" not null,
  id text collate "C" not null,
  seq bigint not null,
  type text not null,
  content json not null,
  author text,
  approved boolean not null default true,
  archived boolean not null default false,
  hero boolean not null default false,
  access text not null default 'owner',
  access_list bytea,
  created_at timestamptz(3) not null default now(),
  constraint items_pkey primary key (tenant_id, collection_id, seq),
  constraint items_id_unique unique (tenant_id, collection_id, id),
  constraint items_collection_exists foreign key (tenant_id, collection_id) references collections (tenant_id, id) on delete cascade,
  constraint items_access_known check (access in ('owner', 'open', 'email'))
);

create unique index items_one_hero on items (tenant_id, collection_id) where hero;

create table artifacts (
  tenant_id text collate "C" not null,
  collection_id text collate "C" not null,
  id text collate "C" not null,
  seq bigint generated always as identity,
  kind text not null,
  source text not null,
  url text,
  status text not null,
  stage text not null,
  approved boolean not null default true,
  published boolean not null default false,
  hero boolean not null default false,
  archived boolean not null default false,
  title text,
  alt text,
  width integer,
  height integer,
  mime text,
  bytes bigint,
  sha256 text,
  error json,
  created_at timestamptz(3) not null default now(),
  constraint artifacts_pkey primary key (tenant_id, collection_id, seq),
  constraint artifacts_id_unique unique (tenant_id, collection_id, id),
  constraint artifacts_collection_exists foreign key (tenant_id, collection_id) references collections (tenant_id, id) on delete cascade,
  constraint artifacts_kind_known check (kind in ('image', 'clip', 'card')),
  constraint artifacts_source_known check (source in ('url', 'paint', 'produce', 'upload')),
  constraint artifacts_status_known check (status in ('painting', 'ready', 'failed', 'quota_exceeded')),
  constraint artifacts_stage_known check (stage in ('uploading', 'queued', 'running', 'storing', 'done'))
);

create unique index artifacts_one_hero on artifacts (tenant_id, collection_id) where hero;

-- scope is the tenant, or the name of a keyless caller's kind. answer is null only inside the transaction that makes it.
create table idempotency_keys (
  scope text collate "C" not null,
  key_hash bytea not null,
  body_hash bytea not null,
  answer bytea,
  expires_at timestamptz(3) not null,
  constraint idempotency_keys_pkey primary key (scope, key_hash)
);

-- Rows come in the order of their expiry: a block range index finds the expired ones and costs an insert next to nothing.
create index idempotency_keys_expires_at on idempotency_keys using brin (expires_at) with (pages_per_range = 32);

-- Keys that the platform itself signs with, shared by all its processes; no tenant's. A handful of rows: where the other tables are spread
-- over machines, this one is the same on each. id is the key's RFC 7638 thumbprint, which signatures bear as kid. private_sealed is sealed
-- by the master key, and bound to this row.
create table platform_keys (
  purpose text collate "C" not null,
  id text collate "C" not null,
  public_jwk json not null,
  private_sealed bytea not null,
  created_at timestamptz(3) not null default now(),
  retired_at timestamptz(3),
  constraint platform_keys_pkey primary key (purpose, id)
);

-- Processes that start at once, each without a key, meet here: one of them makes it.
create unique index platform_keys_one_living on platform_keys (purpose) where retired_at is null;

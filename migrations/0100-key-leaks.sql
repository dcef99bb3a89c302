-- Keys that were found in public. One row for each key: a report may come again, and for several places.

-- action: what the first report did, or a later one that found the key still valid: revoked, notified, ended.
-- places: where the key was found, a list of at most 20 objects {url, source, first_seen_at}.
create table key_leaks (
  tenant_id text collate "C" not null,
  key_id text collate "C" not null,
  action text not null,
  places jsonb not null,
  first_seen_at timestamptz(3) not null default now(),
  last_seen_at timestamptz(3) not null default now(),
  constraint key_leaks_pkey primary key (tenant_id, key_id),
  constraint key_leaks_action_known check (action in ('revoked', 'notified', 'ended')),
  constraint key_leaks_key_exists foreign key (tenant_id, key_id) references api_keys (tenant_id, id)
);

-- What the tenant chose. A key that is public is in the hands of strangers, so the default is to revoke it.
alter table tenants add column revokes_leaked_keys boolean not null default true;

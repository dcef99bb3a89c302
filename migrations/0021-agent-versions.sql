-- What an agent was when it was launched, once for each version of it instead of once for each session. version is the SHA-256 of the manifest's
-- text. A version goes with the last session that it ran.
create table agent_versions (
  tenant_id text collate "C" not null,
  agent_id text collate "C" not null,
  version bytea not null,
  manifest json not null,
  created_at timestamptz(3) not null default now(),
  constraint agent_versions_pkey primary key (tenant_id, agent_id, version),
  constraint agent_versions_agent_exists foreign key (tenant_id, agent_id) references agents (tenant_id, id)
);

insert into agent_versions (tenant_id, agent_id, version, manifest, created_at)
select distinct on (agent_tenant_id, agent_id, version) agent_tenant_id, agent_id, version, agent, created_at
from (select agent_tenant_id, agent_id, sha256(convert_to(agent::text, 'UTF8')) as version, agent, created_at from sessions) s
order by agent_tenant_id, agent_id, version, created_at;

-- The version is checked at the commit: a launch stores it last. Whoever else launches a version that is new waits until then, and must not wait
-- for a launch that nobody pays. is_remote is asked for by claims and by the sweeper, which do not read the manifest.
alter table sessions
  add column agent_version bytea,
  add column is_remote boolean,
  alter column agent drop not null;

-- Emptied before it is dropped: else its bytes would stay in every row.
update sessions set
  agent_version = sha256(convert_to(agent::text, 'UTF8')), is_remote = agent ->> 'endpoint' is not null, agent = null;

alter table sessions
  alter column agent_version set not null,
  alter column is_remote set not null,
  drop column agent,
  add constraint sessions_version_exists foreign key (agent_tenant_id, agent_id, agent_version)
    references agent_versions (tenant_id, agent_id, version) deferrable initially deferred;

-- Which versions are still used.
create index sessions_version on sessions (agent_tenant_id, agent_id, agent_version);

-- Ended sessions and settled checkouts are deleted after a while, a batch at a time and the oldest first, by these indexes. The second one holds
-- only what may ever go: neither a license key that is still to be redeemed, nor money that is on its way.
create index sessions_ended on sessions (stopped_at) where status in ('stopped', 'failed', 'expired');
create index checkouts_settled on checkouts (coalesce(paid_at, ended_at, expires_at))
  where license_sealed is null and (pending_at is null or paid_at is not null or ended_at is not null);

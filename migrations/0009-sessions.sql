-- Sessions: an agent launched into a room. tenant_id is the tenant that launched it. agent is what the agent was at the launch: a running
-- session goes on as it was launched. mk_sealed and coupon_sealed go when the session ends. A row with status armed is no session yet:
-- its summon key makes sessions (armed_id tells whose), each with rows and keys of its own.
create table sessions (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  agent_tenant_id text collate "C" not null,
  agent_id text collate "C" not null,
  agent json not null,
  room text collate "C" not null,
  status text not null,
  mk_sealed bytea,
  coupon_sealed bytea,
  control_hash bytea,
  agent_control_hash bytea,
  summon_hash bytea,
  armed_id text collate "C",
  price bigint not null,
  charged bigint not null default 0,
  payer_tenant_id text collate "C",
  payer_id text collate "C",
  max_minutes integer not null,
  metadata json,
  error json,
  answered_seq integer not null,
  spoke_at timestamptz(3),
  lease_owner text,
  lease_until timestamptz(3),
  notice_due boolean not null default false,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  joined_at timestamptz(3),
  stopped_at timestamptz(3),
  constraint sessions_pkey primary key (tenant_id, id),
  constraint sessions_tenant_exists foreign key (tenant_id) references tenants (id),
  constraint sessions_agent_exists foreign key (agent_tenant_id, agent_id) references agents (tenant_id, id),
  constraint sessions_status_known
    check (status in ('armed', 'launching', 'running', 'stopping', 'stopped', 'failed', 'expired')),
  constraint sessions_key_while_needed check (mk_sealed is null or status in ('armed', 'launching', 'running', 'stopping')),
  constraint sessions_charged_fits check (charged >= 0 and charged <= price),
  constraint sessions_armed_by_summon_key check ((summon_hash is not null) or status <> 'armed')
) with (fillfactor = 80);

create unique index sessions_control on sessions (control_hash) where control_hash is not null;
create unique index sessions_agent_control on sessions (agent_control_hash) where agent_control_hash is not null;
create unique index sessions_summon on sessions (summon_hash) where summon_hash is not null;

-- An agent is in a room once. Two launches at the same moment meet here.
create unique index sessions_one_in_room on sessions (room, agent_id) where status in ('launching', 'running', 'stopping');

-- What runs, for those who run it and for the sweeper.
create index sessions_alive on sessions (expires_at) where status in ('armed', 'launching', 'running', 'stopping');

-- Remote agents that are still to be told that their session is over.
create index sessions_notices on sessions (id) where notice_due;

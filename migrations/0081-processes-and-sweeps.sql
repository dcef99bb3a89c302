-- small: sweep_leases
-- The running processes of the API and the job workers. Each writes its row every few seconds, so an operator sees what runs on all
-- machines. A row that is not written any more belongs to a process that was killed.
create table processes (
  id uuid not null,
  role text not null,
  host text not null,
  pid integer not null,
  version text not null,
  node text not null,
  memory_bytes bigint not null,
  started_at timestamptz(3) not null default now(),
  beat_at timestamptz(3) not null default now(),
  constraint processes_pkey primary key (id),
  constraint processes_role_known check (role in ('api', 'worker'))
) with (fillfactor = 50);

-- How often a sweep is due: null until a process of this release has run its sweeps.
alter table sweep_leases add column interval_ms integer;
alter table sweep_leases add column failed_at timestamptz(3);

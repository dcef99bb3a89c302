-- Artifacts that are being made. A job goes with the transaction that makes its artifact ready or failed; whoever makes it holds a lease,
-- and everything it writes is written only while the lease is its own.
create table artifact_jobs (
  tenant_id text collate "C" not null,
  collection_id text collate "C" not null,
  artifact_id text collate "C" not null,
  work text not null,
  input json not null,
  price bigint not null default 0,
  payer_tenant_id text collate "C",
  payer_id text collate "C",
  from_allowance boolean not null default false,
  tries integer not null default 0,
  lease_owner text,
  lease_until timestamptz(3),
  run_at timestamptz(3) not null default now(),
  deadline timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  constraint artifact_jobs_pkey primary key (tenant_id, collection_id, artifact_id),
  constraint artifact_jobs_artifact_exists foreign key (tenant_id, collection_id, artifact_id)
    references artifacts (tenant_id, collection_id, id) on delete cascade,
  constraint artifact_jobs_work_known check (work in ('paint', 'card', 'clip'))
);

create index artifact_jobs_run_at on artifact_jobs (run_at);

-- What a tenant painted in a month without paying by coupon.
create table paint_allowances (
  tenant_id text collate "C" not null,
  month date not null,
  used bigint not null,
  constraint paint_allowances_pkey primary key (tenant_id, month),
  constraint paint_allowances_tenant_exists foreign key (tenant_id) references tenants (id),
  constraint paint_allowances_used_not_negative check (used >= 0)
);

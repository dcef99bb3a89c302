-- What tenants used, a row a day (UTC) and meter. Credits are not here: the books know them. Rows are added to all day long: room is left
-- on the page, so that the new version stays on it (HOT).
create table usage_days (
  tenant_id text collate "C" not null,
  day date not null,
  meter text collate "C" not null,
  quantity bigint not null,
  constraint usage_days_pkey primary key (tenant_id, day, meter),
  constraint usage_days_tenant_exists foreign key (tenant_id) references tenants (id),
  constraint usage_days_meter_known check (meter in ('requests', 'items', 'paints', 'launches', 'bytes')),
  constraint usage_days_quantity_not_negative check (quantity >= 0),
  constraint usage_days_quantity_exact check (quantity <= 9007199254740991)
) with (fillfactor = 70);

-- The last batch of counts that each process wrote: one whose answer was lost is sent again and not added twice. A row of a process that
-- is gone is of no use and is deleted after a week.
create table usage_writers (
  id uuid not null,
  last_batch bigint not null,
  written_at timestamptz(3) not null default now(),
  constraint usage_writers_pkey primary key (id)
);

-- What keeps a publishable key, which everyone can read, from draining its tenant; and a quota of stored bytes.

-- What a tenant may have instead of the installation's limits. null: the installation's.
create table tenant_limits (
  tenant_id text collate "C" not null,
  paints_per_address bigint,
  paints_per_collection bigint,
  paints_per_day bigint,
  upload_bytes_per_address bigint,
  stored_bytes bigint,
  constraint tenant_limits_pkey primary key (tenant_id),
  constraint tenant_limits_tenant_exists foreign key (tenant_id) references tenants (id),
  constraint tenant_limits_not_negative check (
    least(paints_per_address, paints_per_collection, paints_per_day, upload_bytes_per_address, stored_bytes) >= 0
  )
);

-- What came through publishable keys in a day (UTC). subject: the collection, a keyed hash of the address that is another one each day, or
-- empty for the whole tenant. The rows of a day that is over are deleted.
create table daily_counts (
  tenant_id text collate "C" not null,
  day date not null,
  meter text collate "C" not null,
  subject text collate "C" not null,
  used bigint not null,
  constraint daily_counts_pkey primary key (tenant_id, day, meter, subject),
  constraint daily_counts_tenant_exists foreign key (tenant_id) references tenants (id),
  constraint daily_counts_meter_known check (
    meter in ('paints_per_address', 'paints_per_collection', 'paints_per_day', 'upload_bytes_per_address')
  )
) with (fillfactor = 70);

create index daily_counts_day on daily_counts (day);

-- The sum of artifacts.bytes by tenant. The triggers keep it, so that no statement can forget to, and it commits with what it counts.
create table stored_bytes (
  tenant_id text collate "C" not null,
  bytes bigint not null,
  constraint stored_bytes_pkey primary key (tenant_id),
  constraint stored_bytes_tenant_exists foreign key (tenant_id) references tenants (id)
) with (fillfactor = 70);

create function count_stored_bytes() returns trigger
language plpgsql
as $$
declare
  delta bigint := coalesce(new.bytes, 0);
begin
  if tg_op = 'UPDATE' then
    delta := delta - coalesce(old.bytes, 0);
  end if;
  insert into stored_bytes as s (tenant_id, bytes) values (new.tenant_id, delta)
  on conflict on constraint stored_bytes_pkey do update set bytes = s.bytes + excluded.bytes;
  return null;
end
$$;

-- Once a statement: a collection is deleted with all its artifacts.
create function count_removed_bytes() returns trigger
language plpgsql
as $$
begin
  update stored_bytes s set bytes = s.bytes - r.bytes
  from (select tenant_id, sum(bytes)::bigint as bytes from removed where bytes is not null group by tenant_id) r
  where s.tenant_id = r.tenant_id;
  return null;
end
$$;

create trigger artifacts_count_new_bytes after insert on artifacts
  for each row when (new.bytes is not null) execute function count_stored_bytes();
create trigger artifacts_count_changed_bytes after update of bytes on artifacts
  for each row when (old.bytes is distinct from new.bytes) execute function count_stored_bytes();
create trigger artifacts_count_removed_bytes after delete on artifacts
  referencing old table as removed for each statement execute function count_removed_bytes();

-- Making the triggers has locked the table against writes until this commits.
insert into stored_bytes (tenant_id, bytes)
select tenant_id, sum(bytes) from artifacts where bytes is not null group by tenant_id;

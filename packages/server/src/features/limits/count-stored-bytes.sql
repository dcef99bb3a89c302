-- Updates the stored bytes of a tenant when its artifacts change.
create or replace function count_stored_bytes() returns trigger
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

-- Runs once per statement, because a collection is deleted with all its artifacts.
create or replace function count_removed_bytes() returns trigger
language plpgsql
as $$
begin
  update stored_bytes s set bytes = s.bytes - r.bytes
  from (select tenant_id, sum(bytes)::bigint as bytes from removed where bytes is not null group by tenant_id) r
  where s.tenant_id = r.tenant_id;
  return null;
end
$$;

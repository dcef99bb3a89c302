-- As number_outbox, for processes of the previous release, whose workers expect a notification from here. The next
-- release removes it.
create or replace function number_events(tenant_ids text[], max_each integer) returns bigint
language plpgsql
as $$
declare
  numbered record;
begin
  select n.given, n.queued into numbered from number_outbox(tenant_ids, max_each) n;
  if numbered.queued > 0 then
    perform pg_notify('atrium_events', '');
  end if;
  return numbered.given;
end
$$;

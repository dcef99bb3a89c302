-- For processes of the previous release; the next one removes it. Like number_outbox, but skips a tenant whose head
-- another transaction has locked: workers number the events of many tenants at once, and find the others at their next
-- poll.
create or replace function try_number_outbox(tenant_ids text[], max_each integer, out given bigint, out queued bigint)
language plpgsql
as $$
declare
  free_ids text[];
begin
  insert into event_heads (tenant_id)
  select t.id from unnest(tenant_ids) as t (id)
  where not exists (select from event_heads h where h.tenant_id = t.id)
  order by t.id
  on conflict do nothing;

  select array_agg(f.tenant_id) into free_ids
  from (
    select h.tenant_id from event_heads h where h.tenant_id = any (tenant_ids) order by h.tenant_id for no key update skip locked
  ) f;
  -- The heads are locked already, so this does not wait for them again.
  if free_ids is null then
    given := 0;
    queued := 0;
  else
    select n.given, n.queued into given, queued from number_outbox(free_ids, max_each) n;
  end if;
end
$$;

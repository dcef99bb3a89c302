-- For processes of the previous release, whose events get their hashes later (numbering-store.ts); the next one removes it.
-- Numbers the events of these tenants in the outbox, up to the given number for each, and queues them for their
-- webhooks. Returns how many were numbered, and how many deliveries were queued. The caller wakes the workers after the
-- commit.
--
-- open_item is the effect of an event for readers of open items: true, the item is open now; false, it is no longer
-- open; null, none.
--
-- All transactions lock the heads in one order. The statement after that has its own snapshot, newer than the locks:
-- it sees everything that the previous holder numbered and that was committed until then. Times are truncated to
-- milliseconds, because a rounded-up time would make an entry that is queued now due only later.
create or replace function number_outbox(tenant_ids text[], max_each integer, out given bigint, out queued bigint)
language plpgsql
as $$
declare
  queued_at timestamptz;
begin
  -- Events that another process is numbering are still visible here until it commits. The lock below waits for that.
  if not exists (select from event_outbox o where o.tenant_id = any (tenant_ids)) then
    given := 0;
    queued := 0;
    return;
  end if;

  insert into event_heads (tenant_id)
  select t.id from unnest(tenant_ids) as t (id)
  where not exists (select from event_heads h where h.tenant_id = t.id)
  order by t.id
  on conflict do nothing;

  perform from event_heads h where h.tenant_id = any (tenant_ids) order by h.tenant_id for no key update;
  queued_at := date_trunc('milliseconds', clock_timestamp());

  with waiting as (
    select n.slot, n.tenant_id, n.position
    from unnest(tenant_ids) as t (id)
    cross join lateral (
      select x.slot, x.tenant_id, x.position from event_outbox x where x.tenant_id = t.id order by x.position limit max_each
    ) n
  ), taken as (
    -- Not by ctid, which names a row in each partition. The slot selects the partition.
    delete from event_outbox o
    using waiting w
    where o.slot = w.slot and o.tenant_id = w.tenant_id and o.position = w.position
    returning o.tenant_id, o.position, o.id, o.type, o.data, o.created_at, o.was_open
  ), numbered as (
    insert into events (tenant_id, sequence, id, type, data, created_at, open_item)
    select t.tenant_id, h.last_sequence + row_number() over (partition by t.tenant_id order by t.position), t.id, t.type, t.data, t.created_at,
      case
        when t.type in ('item.created', 'item.updated') and t.data->>'access' = 'open' and (t.data->>'approved')::boolean
          and not (t.data->>'archived')::boolean then true
        when t.was_open then false
      end
    from taken t
    join event_heads h on h.tenant_id = t.tenant_id
    returning tenant_id, sequence, id, type
  ), moved as (
    update event_heads h set last_sequence = n.last
    from (select tenant_id, max(sequence) as last from numbered group by tenant_id) n
    where h.tenant_id = n.tenant_id
  ), queue as (
    insert into webhook_deliveries (tenant_id, sequence, id, next_attempt_at)
    select n.tenant_id, n.sequence, n.id, queued_at
    from numbered n
    join webhooks w on w.tenant_id = n.tenant_id
    where w.enabled and (w.events is null or n.type = any (w.events))
    returning 1
  ), queue_further as (
    insert into webhook_endpoint_deliveries (tenant_id, endpoint_id, sequence, id, next_attempt_at)
    select n.tenant_id, w.endpoint_id, n.sequence, n.id, queued_at
    from numbered n
    join webhook_endpoints w on w.tenant_id = n.tenant_id
    where w.enabled and (w.events is null or n.type = any (w.events))
    returning 1
  )
  select (select count(*) from numbered), (select count(*) from queue) + (select count(*) from queue_further) into given, queued;
end
$$;

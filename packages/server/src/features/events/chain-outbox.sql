-- Numbers the given events of the outbox, with the hashes that the caller computed, and queues them for their webhooks.
-- Tenant head_ids[i] has numbered up to lasts[i]; ends[i] is the hash there. slots, positions, heads and opens have an
-- element for each event, tenant by tenant and in their order; heads has the i of its tenant. hashes has 32 bytes for each
-- event.
-- Returns how many were numbered, and how many deliveries were queued. The caller wakes the workers after the commit.
--
-- A tenant whose head is no longer at lasts[i] is skipped: another process has numbered since, and the hashes would make
-- the chain fork. So is one whose head is locked: its holder is numbering. The caller reads again.
--
-- open_item is the effect of an event for readers of open items: true, the item is open now; false, it is no longer
-- open; null, none. The caller, which has read the content, says in opens whether the item is open: to read JSON here would
-- take a third of the time.
--
-- All transactions lock the heads in one order. Times are truncated to milliseconds, because a rounded-up time would make
-- an entry that is queued now due only later.
create or replace function chain_outbox(
  head_ids text[], lasts bigint[], ends bytea[],
  slots smallint[], positions bigint[], heads integer[], hashes bytea, opens boolean[],
  out given bigint, out queued bigint
)
language plpgsql
-- A plan from when a partition was empty would scan it whole.
set enable_seqscan = off
as $$
declare
  ready text[];
  queued_at timestamptz;
  expected bigint;
begin
  insert into event_heads (tenant_id)
  select t.id from unnest(head_ids) as t (id)
  where not exists (select from event_heads h where h.tenant_id = t.id)
  order by t.id
  on conflict do nothing;

  select array_agg(f.tenant_id) into ready
  from (
    select h.tenant_id from event_heads h join unnest(head_ids, lasts) as e (id, last) on e.id = h.tenant_id
    where h.last_sequence = e.last order by h.tenant_id for no key update of h skip locked
  ) f;
  if ready is null then
    given := 0;
    queued := 0;
    return;
  end if;
  queued_at := date_trunc('milliseconds', clock_timestamp());

  with waiting as materialized (
    select e.tenant_id, w.slot, w.position, w.opens,
      e.last + row_number() over tenant as sequence,
      substring(hashes from (w.nth::integer - 1) * 32 + 1 for 32) as hash,
      case row_number() over tenant when 1 then e.hash else substring(hashes from (w.nth::integer - 2) * 32 + 1 for 32) end as hash_before
    from unnest(slots, positions, heads, opens) with ordinality as w (slot, position, head, opens, nth)
    join unnest(head_ids, lasts, ends) with ordinality as e (tenant_id, last, hash, head) on e.head = w.head
    where e.tenant_id = any (ready)
    window tenant as (partition by w.head order by w.nth)
  ), found as materialized (
    -- A join would be planned for the few rows that the outbox had when it was last vacuumed: as a scan of the whole index,
    -- which has an entry for each event since. A limit leaves only a look-up for each event.
    select w.*, x.place
    from waiting w
    cross join lateral (
      select o.ctid as place from event_outbox o
      where o.slot = w.slot and o.tenant_id = w.tenant_id and o.position = w.position limit 1
    ) x
  ), taken as (
    -- A ctid names a row in each partition. The slot selects the partition.
    delete from event_outbox o
    using found w
    where o.slot = w.slot and o.ctid = w.place
    returning o.tenant_id, w.sequence, o.id, o.type, o.data, o.created_at, o.was_open, w.opens, w.hash, w.hash_before
  ), numbered as (
    insert into events (tenant_id, sequence, id, type, data, created_at, open_item, hash, hash_before)
    select t.tenant_id, t.sequence, t.id, t.type, t.data, t.created_at,
      case when t.opens then true when t.was_open then false end,
      t.hash, t.hash_before
    from taken t
    returning tenant_id, sequence, id, type
  ), moved as (
    update event_heads h set last_sequence = n.sequence, chain_sequence = n.sequence, chain_hash = n.hash
    from (select distinct on (w.tenant_id) w.tenant_id, w.sequence, w.hash from waiting w order by w.tenant_id, w.sequence desc) n
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
  select (select count(*) from waiting), (select count(*) from numbered),
    (select count(*) from queue) + (select count(*) from queue_further)
  into expected, given, queued;

  -- The tenant is being deleted. Numbers without an event would be a gap. The caller reads again, as after a lock.
  if given <> expected then
    raise exception 'events of the outbox are gone' using errcode = 'lock_not_available';
  end if;
end
$$;

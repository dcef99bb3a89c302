-- Numbers the given events of the outbox, with the hashes that the caller computed, and queues them for their webhooks.
-- Tenant head_ids[i] has numbered up to lasts[i]; ends[i] is the hash there. slots, positions, heads and opens have an
-- element for each event, tenant by tenant and in their order; heads has the i of its tenant, and starts[i] is how many
-- events are before those of tenant i. hashes has 32 bytes for each event.
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
  head_ids text[], lasts bigint[], ends bytea[], starts integer[],
  slots smallint[], positions bigint[], heads integer[], hashes bytea, opens boolean[],
  out given bigint, out queued bigint
)
language plpgsql
as $$
declare
  ready text[];
  queued_at timestamptz;
  expected bigint;
  lowest bigint;
  highest bigint;
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

  select count(*), min(w.position), max(w.position) into expected, lowest, highest
  from unnest(heads, positions) as w (head, position)
  where head_ids[w.head] = any (ready);

  with taken as (
    -- One range of the index for each tenant and slot. To look up each position takes four times as long. They are a filter
    -- because of the sum: older versions of PostgreSQL would look up each of them for each tenant.
    delete from event_outbox o
    where o.slot = any (slots) and o.tenant_id = any (ready)
      and o.position between lowest and highest and o.position + 0 = any (positions)
    returning o.tenant_id, o.position, o.id, o.type, o.data, o.created_at, o.was_open
  ), numbered as (
    insert into events (tenant_id, sequence, id, type, data, created_at, open_item, hash, hash_before)
    select t.tenant_id, lasts[w.head] + w.nth - starts[w.head], t.id, t.type, t.data, t.created_at,
      case when w.opens then true when t.was_open then false end,
      substring(hashes from (w.nth::integer - 1) * 32 + 1 for 32),
      case w.nth when starts[w.head] + 1 then ends[w.head] else substring(hashes from (w.nth::integer - 2) * 32 + 1 for 32) end
    from taken t
    join unnest(positions, heads, opens) with ordinality as w (position, head, opens, nth) on w.position = t.position
    returning tenant_id, sequence, id, type, hash
  ), moved as (
    update event_heads h set last_sequence = n.sequence, chain_sequence = n.sequence, chain_hash = n.hash
    from (
      select distinct on (n.tenant_id) n.tenant_id, n.sequence, n.hash from numbered n order by n.tenant_id, n.sequence desc
    ) n
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
  select (select count(*) from numbered), (select count(*) from queue) + (select count(*) from queue_further)
  into given, queued;

  -- The tenant is being deleted. Numbers without an event would be a gap. The caller reads again, as after a lock.
  if given <> expected then
    raise exception 'events of the outbox are gone' using errcode = 'lock_not_available';
  end if;
end
$$;

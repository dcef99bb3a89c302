-- Does all that adding items needs except the rows of items themselves, which the caller inserts in the same
-- transaction. Each input has its own outcome, and the seq and access of its item; null: it is not added. locked:
-- another transaction holds the collection's row, and nothing was done for that item.
--
-- All transactions lock the collections in one order, so that two batches cannot deadlock. No item is added after a
-- close was answered; seq has no gaps and follows the order of commits; item_count is updated once per collection
-- and batch. An item whose idempotency row exists already is left out; if the transaction of that row still runs,
-- this waits for its end. Those rows are inserted in the order of their keys, for the same reason. Each added item
-- leaves its event in the outbox, and counts in the usage of its collection's day. An added item gets the
-- collection's item_access at that moment, read under its lock. The id of the event derives from that of the item,
-- which is equally random and unique, so the batch needs no further parameter.
create or replace function place_items(
  tenant_ids text[], collection_ids text[], ids text[], types text[],
  scopes text[], key_hashes bytea[], body_hashes bytea[], answers bytea[], expiries timestamptz[]
) returns table (place bigint, outcome text, seq bigint, access text)
language plpgsql
as $$
declare
  free_ids text[];
begin
  select array_agg(f.id) into free_ids
  from (
    select c.id from collections c
    where (c.tenant_id, c.id) in (select * from unnest(tenant_ids, collection_ids))
    order by c.tenant_id, c.id
    for no key update skip locked
  ) f;

  return query
  with input as (
    select * from unnest(tenant_ids, collection_ids, ids, types, scopes, key_hashes, body_hashes, answers, expiries)
      with ordinality as i (tenant_id, collection_id, id, type, scope, key_hash, body_hash, answer, expires_at, ord)
  ), target as (
    select c.tenant_id, c.id, c.state, c.last_seq, c.item_access, coalesce(c.id = any (free_ids), false) as is_free
    from collections c
    where (c.tenant_id, c.id) in (select i.tenant_id, i.collection_id from input i)
  ), claimed as (
    insert into idempotency_keys as k (scope, key_hash, body_hash, answer, expires_at)
    select i.scope, i.key_hash, i.body_hash, i.answer, i.expires_at
    from input i
    join target t on t.tenant_id = i.tenant_id and t.id = i.collection_id
    where i.scope is not null and t.is_free and t.state = 'open'
    order by i.scope, i.key_hash
    on conflict on constraint idempotency_keys_pkey
      do update set body_hash = excluded.body_hash, answer = excluded.answer, expires_at = excluded.expires_at
      where k.expires_at <= now()
    returning k.scope, k.key_hash
  ), accepted as (
    select i.*, t.item_access, t.last_seq + row_number() over (partition by i.tenant_id, i.collection_id order by i.ord) as seq
    from input i
    join target t on t.tenant_id = i.tenant_id and t.id = i.collection_id
    left join claimed k on k.scope = i.scope and k.key_hash = i.key_hash
    where t.is_free and t.state = 'open' and (i.scope is null or k.scope is not null)
  ), told as (
    insert into event_outbox (tenant_id, id, type, data)
    select a.tenant_id, 'evt_' || substr(a.id, 5), 'item.created', json_build_object('collection_id', a.collection_id, 'item_id', a.id,
      'type', a.type, 'approved', true, 'archived', false, 'hero', false, 'access', a.item_access)
    from accepted a
    order by a.ord
  ), total as (
    select a.tenant_id, a.collection_id, count(*) as added from accepted a group by a.tenant_id, a.collection_id
  ), counted as (
    update collections c set item_count = c.item_count + a.added, last_seq = c.last_seq + a.added
    from total a
    where c.tenant_id = a.tenant_id and c.id = a.collection_id
  ), used as (
    -- Only the holder of the collection's row writes this row.
    insert into usage_items as u (tenant_id, day, collection_id, items)
    select a.tenant_id, (now() at time zone 'UTC')::date, a.collection_id, a.added from total a
    on conflict on constraint usage_items_pkey do update set items = u.items + excluded.items
  )
  select i.ord, case
      when t.id is null then 'not_found'
      when not t.is_free then 'locked'
      when a.ord is not null then 'added'
      when t.state <> 'open' then 'not_open'
      else 'claim_taken'
    end, a.seq, case when a.ord is not null then a.item_access end
  from input i
  left join target t on t.tenant_id = i.tenant_id and t.id = i.collection_id
  left join accepted a on a.ord = i.ord
  order by i.ord;
end
$$;

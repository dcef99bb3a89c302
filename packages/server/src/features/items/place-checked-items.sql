-- Does all that adding items needs except the rows of items themselves, which the caller inserts in the same
-- transaction. Each input has its own outcome, and the seq and access of its item; null: it is not added.
--
-- token_hashes has the SHA-256 of the collection token that came with each item, empty without one; null: the caller has
-- checked the token, and has sealed the item if the collection is a box. unchecked: the caller has to do so, and nothing
-- was done for that item. Most items need neither, so that no read of the collection comes before this call.
-- locked: another transaction holds the collection's row, and nothing was done for that item.
--
-- All transactions lock the collections in one order, so that two batches cannot deadlock. No item is added after a
-- close was answered; seq has no gaps and follows the order of commits; item_count is updated once per collection
-- and batch. An item whose idempotency row exists already is left out; if the transaction of that row still runs,
-- this waits for its end. Those rows are inserted in the order of their keys, for the same reason. Each added item
-- leaves its event in the outbox, and counts in the usage of its collection's day. An added item gets the
-- collection's item_access at that moment, read under its lock. The id of the event derives from that of the item,
-- which is equally random and unique, so the batch needs no further parameter.
--
-- An index keeps an entry for each version of a row that an old transaction, such as a backup, may still see. The newest
-- version is usually the last one, so the look-up begins there. PostgreSQL reads an index backwards for a range, and not
-- for one value. The locked row cannot move, so it is found again by its ctid.
create or replace function place_checked_items(
  tenant_ids text[], collection_ids text[], ids text[], types text[], token_hashes bytea[],
  scopes text[], key_hashes bytea[], body_hashes bytea[], answers bytea[], expiries timestamptz[]
) returns table (place bigint, outcome text, seq bigint, access text)
language plpgsql
-- A plan from when the table was empty would scan it whole.
set enable_seqscan = off
as $$
declare
  locked_rows tid[];
begin
  select array_agg(f.ctid) into locked_rows
  from (select distinct * from unnest(tenant_ids, collection_ids) order by 1, 2) i (tenant_id, id)
  cross join lateral (
    select c.ctid from collections c
    where c.tenant_id = i.tenant_id and c.id between i.id and i.id
    order by c.id desc limit 1
    for no key update skip locked
  ) f;

  return query
  with target as materialized (
    select f.nth, f.ctid, c.tenant_id, c.id, c.state, c.last_seq, c.item_access,
      c.contributor_policy = 'open' as needs_no_token, c.admin_token_hash, c.contributor_token_hash,
      c.box_recipient is not null as is_box
    from unnest(locked_rows) with ordinality as f (ctid, nth)
    join collections c on c.ctid = f.ctid
  ), input as materialized (
    select i.*, t.nth, t.last_seq, t.item_access,
      case
        when i.token_hash is not null and (t.is_box or not
          (t.needs_no_token or i.token_hash = t.admin_token_hash or coalesce(i.token_hash = t.contributor_token_hash, false)))
          then 'unchecked'
        when t.state <> 'open' then 'not_open'
        when t.state = 'open' then 'added'
        -- There is no locked row.
        when not exists (select from collections c where c.tenant_id = i.tenant_id and c.id = i.collection_id) then 'not_found'
        else 'locked'
      end as outcome
    from unnest(tenant_ids, collection_ids, ids, types, token_hashes, scopes, key_hashes, body_hashes, answers, expiries)
      with ordinality as i (tenant_id, collection_id, id, type, token_hash, scope, key_hash, body_hash, answer, expires_at, ord)
    left join target t on t.tenant_id = i.tenant_id and t.id = i.collection_id
  ), claimed as (
    insert into idempotency_keys as k (scope, key_hash, body_hash, answer, expires_at)
    select i.scope, i.key_hash, i.body_hash, i.answer,
      -- As keptUntil of idempotency/store.ts.
      case when i.expires_at < now() + interval '23 hours' then now() + interval '24 hours' else i.expires_at end
    from input i
    where i.scope is not null and i.outcome = 'added'
    order by i.scope, i.key_hash
    on conflict on constraint idempotency_keys_pkey
      do update set body_hash = excluded.body_hash, answer = excluded.answer, expires_at = excluded.expires_at
      where k.expires_at <= now()
    returning k.scope, k.key_hash
  ), accepted as (
    select i.*, i.last_seq + row_number() over (partition by i.nth order by i.ord) as seq
    from input i
    left join claimed k on k.scope = i.scope and k.key_hash = i.key_hash
    where i.outcome = 'added' and (i.scope is null or k.scope is not null)
  ), told as (
    insert into event_outbox (tenant_id, id, type, data)
    select a.tenant_id, 'evt_' || substr(a.id, 5), 'item.created', json_build_object('collection_id', a.collection_id, 'item_id', a.id,
      'type', a.type, 'approved', true, 'archived', false, 'hero', false, 'access', a.item_access)
    from accepted a
    order by a.ord
  ), total as (
    select a.nth, count(*) as added from accepted a group by a.nth
  ), counted as (
    update collections c set item_count = c.item_count + a.added, last_seq = c.last_seq + a.added
    from total a join target t on t.nth = a.nth
    where c.ctid = t.ctid
  ), used as (
    -- Only the holder of the collection's row writes this row. Each row counts the items of some 128 seqs, so that it has
    -- few versions: the look-up by its key visits all of them.
    insert into usage_items as u (tenant_id, day, collection_id, part, items)
    select t.tenant_id, (now() at time zone 'UTC')::date, t.id, t.last_seq >> 7, a.added from total a join target t on t.nth = a.nth
    on conflict on constraint usage_items_pkey do update set items = u.items + excluded.items
  )
  select i.ord, case when i.outcome = 'added' and a.ord is null then 'claim_taken' else i.outcome end,
    a.seq, case when a.ord is not null then a.item_access end
  from input i
  left join accepted a on a.ord = i.ord
  order by i.ord;
end
$$;

-- Appends sealed lines to rooms, to each room all or nothing: only if the room still ends where the caller saw it
-- end, and only if none of the lines is a repeat. Returns moved for rooms that were appended to, locked for rooms
-- whose row another transaction holds, and the repeats with the line that was first. A room that is not returned has
-- grown or was removed. The caller notifies the polls after the commit.
--
-- The free rooms are searched for only if some are not free: an array that is not a constant is scanned from its
-- start for each room.
create or replace function append_room_lines(
  rooms_ text[], from_counts int[], from_etags text[], counts int[], etags text[], sizes bigint[], policy_seqs int[], policy_hashes text[],
  line_rooms text[], line_seqs int[], lines text[], dedupes text[]
) returns table (room text, outcome text, dedupe text, seq int)
language plpgsql
as $$
declare
  free_rooms text[];
  all_free boolean;
begin
  select array_agg(f.room) into free_rooms
  from (select r.room from rooms r where r.room = any (rooms_) order by r.room for no key update skip locked) f;
  all_free := cardinality(free_rooms) = cardinality(rooms_);

  return query
  with input as (
    select i.* from unnest(rooms_, from_counts, from_etags, counts, etags, sizes, policy_seqs, policy_hashes)
      as i (room, from_count, from_etag, count, etag, bytes, policy_seq, policy_hash)
    where all_free or i.room = any (free_rooms)
  ), line as (
    select * from unnest(line_rooms, line_seqs, lines, dedupes) as n (room, seq, line, dedupe)
  ), repeated as (
    select l.room, l.dedupe, l.seq from room_lines l join line n on n.room = l.room and n.dedupe = l.dedupe
  ), moved as (
    update rooms r
    set count = i.count, etag = i.etag, bytes = i.bytes, policy_seq = i.policy_seq, policy_hash = i.policy_hash
    from input i
    where r.room = i.room and r.count = i.from_count and r.etag = i.from_etag
      and not exists (select from repeated d where d.room = r.room)
    returning r.room
  ), written as (
    insert into room_lines (room, seq, line, dedupe)
    select n.room, n.seq, n.line, n.dedupe from line n join moved m on m.room = n.room
  )
  select m.room, 'moved', null::text, null::int from moved m
  union all
  select d.room, 'repeated', d.dedupe, d.seq from repeated d
  union all
  select r.room, 'locked', null::text, null::int
  from unnest(rooms_) as u (room) join rooms r on r.room = u.room
  where all_free is not true
    and not exists (select from unnest(free_rooms) as f (room) where f.room = u.room)
    and not exists (select from repeated d where d.room = u.room);
end
$$;

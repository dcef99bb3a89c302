-- The name of a removed room is never used again. The tables themselves check this: a create that began before a
-- remove was committed saw neither, waited for the remove at the unique index, and then created an open room in
-- place of a closed one.
create or replace function lock_room_name(room_ text) returns void language sql as $$
  select pg_advisory_xact_lock(hashtextextended('atrium.room ' || room_, 0))
$$;

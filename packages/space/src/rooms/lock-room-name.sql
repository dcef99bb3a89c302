-- The name of a removed room never returns. Checked by the tables themselves: a create that began while a remove was not committed yet saw
-- neither, waited for the remove at the unique index, and then made an open room where a closed one had been.
create or replace function lock_room_name(room_ text) returns void language sql as $$
  select pg_advisory_xact_lock(hashtextextended('atrium.room ' || room_, 0))
$$;

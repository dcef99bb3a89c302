-- Deletes a room and its lines, and reserves its name; with only_unused, only a room that still has one line. Returns
-- the bytes that the room had; null: nothing was deleted. The caller subtracts them from the total.
--
-- The triggers of the table do the same for any other statement. Citus has no triggers on tables that it spreads, so
-- this function does not rely on them: the bytes are set to 0, and the trigger has nothing left to subtract.
create or replace function free_room(room_ text, only_unused boolean) returns bigint language plpgsql as $$
declare
  freed bigint;
begin
  -- Waits for a concurrent append, and sees its lines. The row is locked before the name, as by the trigger.
  select r.bytes into freed from rooms r where r.room = room_ and (r.count = 1 or not only_unused) for update;
  if not found then return null; end if;
  perform lock_room_name(room_);
  insert into removed_rooms (room) values (room_) on conflict on constraint removed_rooms_pkey do nothing;
  update rooms set bytes = 0 where room = room_;
  delete from rooms where room = room_;
  return freed;
end
$$;

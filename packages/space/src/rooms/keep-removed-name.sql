-- Reserves the name of a removed room, so that it is never used again.
create or replace function keep_removed_name() returns trigger language plpgsql as $$
begin
  perform lock_room_name(old.room);
  insert into removed_rooms (room) values (old.room) on conflict on constraint removed_rooms_pkey do nothing;
  return old;
end
$$;

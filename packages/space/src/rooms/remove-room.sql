-- Removes a room and its lines. The name stays reserved. Returns whether the room existed.
create or replace function remove_room(room_ text) returns boolean language plpgsql as $$
declare
  freed constant bigint := free_room(room_, false);
begin
  if freed is null then return false; end if;
  update space_total set bytes = greatest(0, bytes - freed);
  return true;
end
$$;

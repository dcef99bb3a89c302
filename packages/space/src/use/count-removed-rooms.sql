-- Subtracts the bytes of removed rooms from the total. free_room has set them to 0, and its callers subtract them.
create or replace function count_removed_rooms() returns trigger language plpgsql as $$
declare
  freed bigint;
begin
  select coalesce(sum(g.bytes), 0) into freed from gone g;
  if freed > 0 then update space_total set bytes = greatest(0, bytes - freed); end if;
  return null;
end
$$;

-- A card that is no longer true goes, and its salt with it: then nothing connects the agent to its leaf in the log.
create or replace function remove_agent_card() returns trigger
language plpgsql
as $$
begin
  new.card = null;
  new.card_salt = null;
  return new;
end
$$;

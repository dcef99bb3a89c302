-- The public key of a remote agent, to which launchers seal what it needs to join a client-sealed room.
alter table agents add column encryption_key jsonb;

-- True: mk_sealed has what the launcher has sealed to that key, in place of a room key.
alter table sessions add column client_sealed boolean not null default false;

-- The key is part of what the catalog shows, so a card with another one is no longer true.
create trigger agents_card_goes_with_key before update on agents
  for each row when (old.card is not null and old.encryption_key is distinct from new.encryption_key)
  execute function remove_agent_card();

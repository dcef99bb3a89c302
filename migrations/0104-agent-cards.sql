-- What the catalog shows of an active agent, exactly as it was logged, and the salt of its hash in the transparency log.
-- carded_at: when it was last logged, so that an agent that changes all the time does not fill the log.
alter table agents
  add column card text,
  add column card_salt text collate "C",
  add column carded_at timestamptz(3);

create function remove_agent_card() returns trigger
language plpgsql
as $$
begin
  new.card = null;
  new.card_salt = null;
  return new;
end
$$;

-- A process of the release before does not know the card, and must not leave one that is no longer true.
create trigger agents_card_goes before update on agents
  for each row when (old.card is not null and (new.status <> 'active'
    or (old.name, old.description, old.price_credits, old.credits_per_1k_tokens, old.credits_per_tool_call, old.max_minutes,
        old.avatar_url, old.endpoint is null)
      is distinct from
       (new.name, new.description, new.price_credits, new.credits_per_1k_tokens, new.credits_per_tool_call, new.max_minutes,
        new.avatar_url, new.endpoint is null)))
  execute function remove_agent_card();

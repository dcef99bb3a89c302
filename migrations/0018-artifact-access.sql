-- Who may see a published artifact: anyone, the accounts on its list, or its owner alone. What was public stays public.
alter table artifacts
  add column access text not null default 'open',
  add column access_list bytea,
  add constraint artifacts_access_known check (access in ('owner', 'open', 'email'));

-- A share page shows open artifacts alone: the index holds no others, so that many of them cost its reader nothing.
drop index artifacts_public_cards;
create index artifacts_public_cards on artifacts (tenant_id, collection_id, seq)
  where kind = 'card' and published and approved and not archived and access = 'open' and status = 'ready';

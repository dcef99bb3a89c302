-- concurrently
-- The sweep that logs cards reads only the agents that lack one.
create index concurrently agents_without_card on agents (seq) where status = 'active' and card is null;

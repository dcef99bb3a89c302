-- When number_spread (Citus) last numbered events of the tenant: for a moment after it, they may not be visible yet (0059).
alter table event_heads add column numbered_at timestamptz(3);

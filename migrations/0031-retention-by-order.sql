-- What has expired is found in the order in which it expires. A BRIN index knows the oldest and the newest row of each stretch of pages;
-- once deleted rows have made room for new ones, every stretch holds both, and a look for what is due reads the whole table although
-- nothing is. Both columns grow with time, so that a new entry goes to the end of the b-tree.
drop index idempotency_keys_expires_at;
create index idempotency_keys_expires_at on idempotency_keys (expires_at);

drop index events_created_at;
create index events_created_at on events (created_at);

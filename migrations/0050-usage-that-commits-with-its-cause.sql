-- Requests and bytes, one row a tenant and day (UTC). Every process adds to it at most once a minute, so it is one row where usage_days would
-- have two. Rows are added to all day long: room is left on the page, so that the new version stays on it (HOT).
create table usage_traffic (
  tenant_id text collate "C" not null,
  day date not null,
  requests bigint not null,
  bytes bigint not null,
  constraint usage_traffic_pkey primary key (tenant_id, day),
  constraint usage_traffic_tenant_exists foreign key (tenant_id) references tenants (id),
  constraint usage_traffic_not_negative check (least(requests, bytes) >= 0),
  constraint usage_traffic_exact check (greatest(requests, bytes) <= 9007199254740991)
) with (fillfactor = 70);

-- The items added to a collection on a day (UTC), counted by the transaction that adds them, which holds the collection's row. A row of the
-- tenant would make the adders of its other collections wait. A sweep moves the rows of past days into usage_days.
create table usage_items (
  tenant_id text collate "C" not null,
  day date not null,
  collection_id text collate "C" not null,
  items bigint not null,
  constraint usage_items_pkey primary key (tenant_id, day, collection_id),
  constraint usage_items_positive check (items > 0)
) with (fillfactor = 70);

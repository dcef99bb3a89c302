-- On Citus, where deliveries are spread by tenant: the endpoints that may have pending deliveries (0059). One PostgreSQL
-- finds them through the index of the deliveries, and leaves this table empty.
create table webhook_queues (
  tenant_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  -- When a worker has to look at the deliveries next; null: none is pending.
  due_at timestamptz(3),
  -- How often deliveries were sent again. Who found none pending then looks again.
  resends bigint not null default 0,
  constraint webhook_queues_pkey primary key (tenant_id, endpoint_id)
);

create index webhook_queues_due on webhook_queues (due_at) where due_at is not null;

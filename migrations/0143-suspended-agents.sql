-- concurrently
create index concurrently agents_suspended on agents (tenant_id, id) where status = 'suspended';

-- concurrently
create unique index concurrently usage_items_parts on usage_items (tenant_id, day, collection_id, part);

-- The newest public card of a collection: the preview picture of its share page where there is no hero picture.
create index artifacts_public_cards on artifacts (tenant_id, collection_id, seq)
  where kind = 'card' and published and approved and not archived and status = 'ready';

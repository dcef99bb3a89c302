-- Items that anyone with the publishable key may list. item_access is the access of items added from now on; wall says whether a page
-- without a key shows the open ones. A box has neither: what is sealed to one recipient is of no use to others.
alter table collections
  add column item_access text not null default 'owner',
  add column wall boolean not null default false,
  add constraint collections_item_access_known check (item_access in ('owner', 'open')),
  add constraint collections_box_is_not_open check (box_recipient is null or (item_access = 'owner' and not wall));

-- The open list, of all types and of one. Only listed items are in them: an item with the default access costs nothing here.
create index items_open on items (tenant_id, collection_id, seq) where approved and not archived and access = 'open';
create index items_open_type on items (tenant_id, collection_id, type, seq) where approved and not archived and access = 'open';

-- The collections of a tenant, newest first. Counting items changes neither column, so that those updates stay in their page.
create index collections_newest on collections (tenant_id, created_at, id);

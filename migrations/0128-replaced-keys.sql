-- The key that a rotation made in place of this one. It is the id of a key of the same tenant, and no foreign key: keys are
-- never deleted one by one, and a restore or the deletion of a tenant handles them in any order.
alter table api_keys add column replaced_by text collate "C";

-- The keys of the device with which a hosted agent is in a client-sealed room, in place of mk_sealed. They are in a column
-- of their own, so that a process of the release before does not take them for a room key and send them to Space. They go
-- when the session ends, like mk_sealed. No check says so: the release before ends sessions without knowing the column.
alter table sessions add column device_sealed bytea;

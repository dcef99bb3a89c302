-- Gives the events of a tenant their hashes, after they were numbered without, and moves the end of the chain from one
-- sequence to another. Two statements, because events may be spread over the nodes of a Citus cluster and heads are not.
create or replace function chain_numbered(
  tenant text, chained bigint, chained_to bigint, end_hash bytea, sequences bigint[], hashes bytea[], befores bytea[]
) returns void
language plpgsql
as $$
begin
  -- Waits for another process that does the same, and then finds that it was done.
  update event_heads set chain_sequence = chained_to, chain_hash = end_hash
  where tenant_id = tenant and chain_sequence = chained and last_sequence >= chained_to;
  if not found then
    return;
  end if;
  update events e set hash = w.hash, hash_before = w.hash_before
  from unnest(sequences, hashes, befores) as w (sequence, hash, hash_before)
  where e.tenant_id = tenant and e.sequence = w.sequence;
end
$$;

/**
 * Every table, and what a restore does with it. `restored`: the rows come back as they were. `fresh`: the table is
 * about processes that no longer run or counts that have passed, and starts as in a new database. A test compares this
 * list with the schema, so that a new table needs a decision.
 */
export const backupTables: Readonly<Record<string, 'restored' | 'fresh'>> = {
  agent_ratings: 'restored',
  agent_versions: 'restored',
  agents: 'restored',
  api_keys: 'restored',
  artifact_jobs: 'restored',
  artifact_uploads: 'restored',
  artifacts: 'restored',
  audit_log: 'restored',
  blob_deletion_holds: 'fresh',
  // The folder of the restored files has an id of its own.
  blob_folders: 'fresh',
  blob_deletions: 'restored',
  // The position of the search for orphans.
  blob_search: 'fresh',
  books_roots: 'restored',
  books_tiles: 'restored',
  checkouts: 'restored',
  collections: 'restored',
  // Links and sessions of the console may have ended after the snapshot, so people sign in again.
  console_links: 'fresh',
  console_sessions: 'fresh',
  // Daily limits.
  daily_counts: 'fresh',
  // Since when the database has been reachable.
  database_contact: 'fresh',
  epochs: 'restored',
  event_heads: 'restored',
  event_outbox: 'restored',
  event_root_tiles: 'restored',
  event_roots: 'restored',
  events: 'restored',
  // A request that is repeated after the restore must not run twice.
  idempotency_keys: 'restored',
  invites: 'restored',
  items: 'restored',
  ledger_accounts: 'restored',
  ledger_audits: 'restored',
  ledger_due: 'restored',
  ledger_hold_ends: 'restored',
  ledger_holds: 'restored',
  key_leaks: 'restored',
  // Sums that were proved before. After a restore, all rows are read again.
  ledger_proof: 'fresh',
  ledger_proved: 'fresh',
  ledger_recoveries: 'restored',
  ledger_reversals: 'restored',
  ledger_transfers: 'restored',
  // The log goes on where the backup ends, if no witness has seen more of it.
  log_checkpoints: 'restored',
  log_cosignatures: 'restored',
  log_leaves: 'restored',
  // What is shown is asked again each minute.
  log_shown: 'fresh',
  log_sources: 'restored',
  log_tiles: 'restored',
  log_tree: 'restored',
  master_key_check: 'restored',
  members: 'restored',
  new_rooms: 'restored',
  operator_credentials: 'restored',
  paint_allowances: 'restored',
  // Since when each slot has been written to. A restore writes all slots anew.
  partition_slots: 'fresh',
  platform_keys: 'restored',
  // What runs now.
  processes: 'fresh',
  provider_keys: 'restored',
  receipt_numbers: 'restored',
  receipts: 'restored',
  removed_rooms: 'restored',
  // What is kept for days, and nothing refers to.
  request_log: 'fresh',
  request_log_chunks: 'fresh',
  restores: 'fresh',
  room_lines: 'restored',
  rooms: 'restored',
  sessions: 'restored',
  space_certificates: 'restored',
  space_total: 'restored',
  // Hourly and daily limits.
  space_use: 'fresh',
  stored_bytes: 'restored',
  sweep_leases: 'fresh',
  tenant_deletions: 'restored',
  tenant_limits: 'restored',
  tenants: 'restored',
  usage_days: 'restored',
  usage_items: 'restored',
  usage_traffic: 'restored',
  // The written batches of running processes.
  usage_writers: 'fresh',
  webhook_deliveries: 'restored',
  webhook_endpoint_deliveries: 'restored',
  webhook_endpoint_secrets: 'restored',
  webhook_endpoints: 'restored',
  // Empty on one PostgreSQL, and filled when deliveries are spread.
  webhook_queues: 'fresh',
  webhook_secrets: 'restored',
  webhooks: 'restored',
}

/** A table that is not declared is included: that is safer than losing it. */
export function isRestored(table: string): boolean {
  return backupTables[table] !== 'fresh'
}

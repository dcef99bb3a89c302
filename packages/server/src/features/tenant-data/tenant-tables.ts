/** What a deletion of a tenant does with a table, and what an export contains of it. */
export interface TenantTable {
  /**
   * removed: the rows of the tenant are removed. Any other text: why rows or ids of it stay. Tables without data of
   * tenants are in `otherTables`.
   */
  deletion: 'removed' | { stays: string }
  /** The export contains the rows, in this order, without the columns of `except`. */
  export?: { order: string; except?: readonly string[] }
}

/**
 * Every table with data of tenants. A deletion processes them from top to bottom, so that a row is removed before
 * the row that it refers to. A test compares this list with the schema, so that a new table needs a decision.
 */
export const tenantTables = {
  key_leaks: { deletion: 'removed', export: { order: 'key_id' } },
  api_keys: { deletion: 'removed', export: { order: 'id', except: ['key_hash'] } },
  console_sessions: {
    deletion: 'removed',
    export: { order: 'id', except: ['token_hash', 'csrf_hash'] },
  },
  console_links: { deletion: 'removed' },
  members: { deletion: 'removed', export: { order: 'id' } },
  webhook_deliveries: { deletion: 'removed', export: { order: 'sequence', except: ['slot'] } },
  webhook_secrets: { deletion: 'removed' },
  webhook_endpoint_deliveries: { deletion: 'removed', export: { order: 'sequence, endpoint_id', except: ['slot'] } },
  webhook_endpoint_secrets: { deletion: 'removed' },
  webhook_endpoints: { deletion: 'removed', export: { order: 'endpoint_id', except: ['lease_owner', 'lease_until'] } },
  webhook_queues: { deletion: 'removed' },
  webhooks: { deletion: 'removed', export: { order: 'tenant_id', except: ['lease_owner', 'lease_until'] } },
  request_log: { deletion: 'removed', export: { order: 'created_at, request_id', except: ['slot'] } },
  request_log_chunks: { deletion: 'removed', export: { order: 'last_at, id', except: ['slot', 'duration_sample'] } },
  provider_keys: { deletion: 'removed', export: { order: 'provider', except: ['key_sealed'] } },
  event_outbox: { deletion: 'removed' },
  events: { deletion: 'removed', export: { order: 'sequence', except: ['open_item'] } },
  event_heads: { deletion: 'removed' },
  artifact_uploads: { deletion: 'removed' },
  artifact_jobs: { deletion: 'removed' },
  items: { deletion: 'removed', export: { order: 'collection_id, seq' } },
  artifacts: { deletion: 'removed', export: { order: 'collection_id, seq' } },
  collections: { deletion: 'removed', export: { order: 'id', except: ['admin_token_hash', 'contributor_token_hash'] } },
  agent_ratings: { deletion: 'removed', export: { order: 'agent_id, session_id' } },
  sessions: {
    deletion: 'removed',
    export: {
      order: 'id',
      except: [
        'mk_sealed',
        'device_sealed',
        'coupon_sealed',
        'control_hash',
        'agent_control_hash',
        'summon_hash',
        'lease_owner',
        'lease_until',
        'payer_id',
        'payer_tenant_id',
        'budget_holds',
        'agent_version',
      ],
    },
  },
  agent_versions: {
    deletion: { stays: 'blank, while a session of another tenant refers to it' },
  },
  agents: {
    deletion: { stays: 'blank, while a session of another tenant refers to it' },
    export: { order: 'id', except: ['tool_secrets', 'signing_secret', 'card', 'card_salt', 'carded_at'] },
  },
  checkouts: {
    deletion: {
      stays:
        'of those paid with money, ids, amounts and times, because the payment may be returned; the row goes after its retention',
    },
    export: { order: 'id', except: ['license_sealed', 'reference', 'url', 'license_account'] },
  },
  daily_counts: { deletion: 'removed' },
  paint_allowances: { deletion: 'removed', export: { order: 'month' } },
  stored_bytes: { deletion: 'removed' },
  tenant_limits: { deletion: 'removed', export: { order: 'tenant_id' } },
  usage_days: { deletion: 'removed', export: { order: 'day, meter' } },
  usage_items: { deletion: 'removed', export: { order: 'day, collection_id, part', except: ['part'] } },
  usage_traffic: { deletion: 'removed', export: { order: 'day' } },
  blob_deletions: { deletion: 'removed' },
  audit_log: {
    deletion: { stays: 'what was done and by whom has to be provable; it goes after its retention' },
  },
  epochs: {
    deletion: { stays: 'public keys, so that tokens that were sold stay redeemable and comparable' },
    export: { order: 'id' },
  },
  ledger_accounts: {
    deletion: { stays: 'the books: balances, without a name or a text' },
    export: { order: 'id', except: ['code_hash'] },
  },
  ledger_transfers: {
    deletion: { stays: 'the books: amounts and ids; the memo is removed' },
    // Where the buyers of coupons spend them must not be disclosed to the tenant.
    export: { order: 'id', except: ['to_tenant_id', 'to_id', 'actor'] },
  },
  ledger_holds: { deletion: { stays: 'the books: amounts and ids' }, export: { order: 'id', except: ['actor', 'purpose'] } },
  ledger_hold_ends: { deletion: { stays: 'the books: amounts and ids' }, export: { order: 'id' } },
  receipts: {
    deletion: { stays: 'the books: amounts and ids' },
    export: { order: 'seq', except: ['payer_tenant_id', 'payer_id', 'ledger_id', 'code_hash'] },
  },
  receipt_numbers: { deletion: { stays: 'the books: how many receipts there are' } },
  ledger_due: { deletion: { stays: 'when coupons and holds of the books expire' } },
  ledger_proved: { deletion: { stays: 'sums of the books' } },
  ledger_recoveries: { deletion: { stays: 'wallet codes that only their holders can open' } },
  ledger_reversals: { deletion: { stays: 'the books: amounts and ids' } },
  tenant_deletions: { deletion: { stays: 'that and when the tenant was deleted' } },
} as const satisfies Record<string, TenantTable>

export type TenantTableName = keyof typeof tenantTables

/** Tables without data of one tenant, or whose data is handled elsewhere. */
export const otherTables: Readonly<Record<string, string>> = {
  blob_deletion_holds: 'of backups',
  blob_folders: 'of the installation',
  blob_search: 'how far the search for orphaned blobs has come: at most a key for an hour',
  books_roots: 'of the installation: a sum and a hash for each day',
  books_tiles: 'names and balances of accounts of the books, which stay; deleted after a week',
  database_contact: 'of the installation',
  event_root_tiles: 'ids of tenants, which stay, and hashes of their last events; deleted after a week',
  event_roots: 'of the installation: a hash for each day',
  idempotency_keys: 'removed by its scope; sealed answers expire after 24 hours',
  invites: 'of the installation',
  ledger_audits: 'of the installation; findings name accounts of the books, which stay',
  ledger_proof: 'how far the books are proved: at most an id',
  log_checkpoints: 'of the installation',
  log_cosignatures: 'of the installation',
  log_leaves: 'public for ever: of tenants, only the public keys of epochs, which stay anyway, and salted hashes',
  log_shown: 'of the installation',
  log_sources: 'of the installation',
  log_tiles: 'of the installation',
  log_tree: 'of the installation',
  master_key_check: 'of the installation',
  new_rooms: 'of rooms',
  operator_credentials: 'of the installation',
  partition_slots: 'of the installation',
  platform_keys: 'of the installation',
  processes: 'of the installation',
  removed_rooms: 'of rooms',
  restores: 'of the installation',
  room_lines: 'rooms belong to the people in them, and the operator cannot read them',
  rooms: 'rooms belong to the people in them, and the operator cannot read them',
  space_certificates: 'of the installation',
  space_total: 'of rooms',
  space_use: 'of rooms',
  sweep_leases: 'of the installation',
  tenants: 'the id and the time of its creation stay, because books and epochs refer to it',
  usage_writers: 'of processes',
}

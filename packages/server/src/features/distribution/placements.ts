/**
 * Where the rows of a table are on Citus. PostgreSQL alone keeps every table in one place, and ignores this.
 *
 * - `spread`: over all nodes, by the hash of `column`. Tables of one group have the same shards, so rows with the same
 *   value are on one node: they are joined, written by one function and referred to by foreign keys.
 * - `local`: on the coordinator, for the given reason. Its constraints, triggers and foreign keys stay.
 * - `later`: to be spread like this, but on the coordinator until the code no longer needs what `until` says.
 */
export type Placement =
  | { where: 'spread'; by: Spread; replaces?: Replacements }
  | { where: 'local'; because: string }
  | { where: 'later'; by: Spread; until: string }

/** Tables of a group have the same shards. */
export type Group = 'rooms' | 'tenants'

interface Spread {
  group: Group
  column: string
}

/** What Citus refuses on a table that is spread, and what does its work there. */
interface Replacements {
  /** Triggers, by name: the functions that do the same. */
  triggers?: Readonly<Record<string, string>>
  /** Foreign keys to tables on the coordinator, by name: the code that does the same. */
  foreignKeys?: Readonly<Record<string, string>>
}

const byRoom: Spread = { group: 'rooms', column: 'room' }
const byTenant: Spread = { group: 'tenants', column: 'tenant_id' }

const rare = { where: 'local', because: 'few rows, and rare writes' } as const
const books = {
  where: 'local',
  because: 'the books: a transfer moves credits between two tenants, and triggers keep every balance right',
} as const
const credentials = {
  where: 'local',
  because: 'found by a hash, before the tenant is known; it can be revoked while a node is down',
} as const
const billed = {
  where: 'local',
  because: 'each row begins and ends with a movement in the books, which are on the coordinator',
} as const
const installation = { where: 'local', because: 'of the installation' } as const

const untilTenants = (until: string) => ({ where: 'later', by: byTenant, until }) as const
const withCollections = untilTenants('its collection is there')

const bySlot = untilTenants('its collection is there, and the sequence that names the slot is known on each node')

/** Every table. A test compares this list with the schema, so that a new table needs a decision. */
export const placements = {
  agent_ratings: rare,
  agent_versions: rare,
  agents: rare,
  api_keys: credentials,
  artifact_jobs: billed,
  artifact_uploads: withCollections,
  artifacts: untilTenants('media is found by a bare id, and triggers count its bytes'),
  audit_log: { where: 'local', because: 'triggers refuse every change; written once for an action of a person' },
  blob_deletion_holds: installation,
  blob_deletions: untilTenants('it is written with the artifact'),
  blob_folders: installation,
  blob_search: installation,
  books_roots: books,
  books_tiles: books,
  checkouts: billed,
  collections: untilTenants('it is found by a bare id'),
  console_links: credentials,
  console_sessions: credentials,
  daily_counts: untilTenants('one sweep deletes by ctid'),
  database_contact: installation,
  epochs: { where: 'local', because: 'found by a bare id, and triggers refuse every change; a few rows for each issuer' },
  event_heads: withCollections,
  event_outbox: bySlot,
  event_root_tiles: installation,
  event_roots: installation,
  events: { where: 'spread', by: byTenant },
  // The scope of a request with a key is its tenant.
  idempotency_keys: { ...withCollections, by: { group: 'tenants', column: 'scope' } },
  invites: credentials,
  items: {
    where: 'spread',
    by: byTenant,
    replaces: {
      foreignKeys: {
        items_collection_exists: 'deleteCollection deletes the items; add_counted_items locks the collection first',
      },
    },
  },
  key_leaks: rare,
  ledger_accounts: books,
  ledger_audits: books,
  ledger_due: books,
  ledger_hold_ends: books,
  ledger_holds: books,
  ledger_proof: books,
  ledger_proved: books,
  ledger_recoveries: books,
  ledger_transfers: books,
  log_checkpoints: installation,
  log_cosignatures: installation,
  log_leaves: installation,
  log_shown: installation,
  log_sources: installation,
  log_tiles: installation,
  log_tree: installation,
  master_key_check: installation,
  members: rare,
  new_rooms: { where: 'spread', by: byRoom },
  operator_credentials: credentials,
  paint_allowances: billed,
  partition_slots: installation,
  platform_keys: installation,
  processes: installation,
  provider_keys: rare,
  receipt_numbers: books,
  receipts: books,
  removed_rooms: { where: 'spread', by: byRoom },
  request_log: { where: 'spread', by: byTenant },
  request_log_chunks: { where: 'spread', by: byTenant },
  restores: installation,
  room_lines: { where: 'spread', by: byRoom },
  rooms: {
    where: 'spread',
    by: byRoom,
    replaces: {
      triggers: {
        rooms_count_removed: 'remove_room and sweep_space subtract the bytes of a room',
        rooms_keep_removed_names: 'free_room reserves the name',
        rooms_names_stay_removed: 'make_room looks for the name',
      },
    },
  },
  sessions: billed,
  space_certificates: installation,
  space_total: { where: 'local', because: 'one row' },
  space_use: { where: 'local', because: 'counts of two days' },
  stored_bytes: untilTenants('triggers of artifacts count in it'),
  sweep_leases: installation,
  tenant_deletions: rare,
  tenant_limits: rare,
  tenants: {
    where: 'local',
    because: 'few rows; a reference table could not be written while a node is down, and a tenant must be suspended even then',
  },
  usage_days: withCollections,
  usage_items: withCollections,
  usage_traffic: untilTenants('one statement counts for tenants of all shards'),
  usage_writers: installation,
  webhook_deliveries: bySlot,
  webhook_endpoint_deliveries: bySlot,
  webhook_endpoint_secrets: rare,
  webhook_endpoints: rare,
  webhook_secrets: rare,
  webhooks: untilTenants('a recursive query claims the webhooks of many tenants'),
} as const satisfies Readonly<Record<string, Placement>>

export type TableName = keyof typeof placements

interface GroupParts {
  /** The table that the others of the group are placed like. */
  root: TableName
  /** The SQL functions that Citus runs on the node of their first argument, `shard_`. */
  functions: readonly string[]
  /** Statement triggers after an insert into tables of the coordinator, by table: the function of the same name. */
  triggers: Readonly<Partial<Record<TableName, string>>>
}

export const groups: Readonly<Record<Group, GroupParts>> = {
  rooms: { root: 'rooms', functions: ['append_shard_lines'], triggers: {} },
  tenants: { root: 'items', functions: [], triggers: { event_outbox: 'commit_in_two_phases' } },
}

/** The tables of the group that are spread already, the root first. */
export function listSpread(group: Group): TableName[] {
  const { root } = groups[group]
  const names = Object.keys(placements) as TableName[]
  const isSpread = (name: TableName) => {
    const placement: Placement = placements[name]
    return placement.where === 'spread' && placement.by.group === group
  }
  return names.filter(isSpread).toSorted((a, b) => Number(b === root) - Number(a === root))
}

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { limits, ratePolicies } from '@atrium/contract/limits'
import { type LimitName, limitNames } from '@atrium/contract/limit-names'
import { readEnv } from '#config/env.ts'

/** A limit that an operator can override for one tenant, or why it is the same for all. */
type Decision = { override: LimitName } | { same: string }

const format = { same: 'a part of the format: clients rely on it, whichever tenant they talk to' }
const http = { same: 'bounds a request before its tenant is known' }
const people = { same: 'bounds one address or account of people who have no tenant' }
const machine = { same: 'what a process or the database has room for, shared by all tenants' }
const retention = { same: 'a promise of the installation about how long data is kept' }

const ofContract: Record<keyof typeof limits, Decision> = {
  bodyBytes: http,
  headerBytes: http,
  headersTimeoutMs: http,
  requestTimeoutMs: http,
  metadataBytes: format,
  appStateBytes: format,
  itemContentBytes: format,
  jsonDepth: format,
  uploadBytes: { same: 'what one answer of the blob store and one conversion have room for' },
  pageDefault: format,
  pageMax: format,
  keysPageDefault: format,
  bulkItems: format,
  idempotencyKeyLength: format,
  idempotencyTtlMs: format,
  idempotencyWaitMs: format,
  keyOverlapSeconds: format,
  accessListEntries: format,
  activeSessions: { override: 'active_sessions' },
  pendingLaunches: { override: 'pending_launches' },
  openUploads: { override: 'open_uploads' },
  openUploadBytes: { override: 'open_upload_bytes' },
  openUploadsInCollection: { override: 'open_uploads_in_collection' },
  activeGenerations: { override: 'active_generations' },
  members: { same: 'how many people share a tenant does not grow with its traffic' },
  webhookEndpoints: { same: 'each event is queued for each of them, so it bounds the work of one event' },
  operatorCredentials: { same: 'belongs to the installation, not to a tenant' },
}

const ofRates: Record<keyof typeof ratePolicies, Decision> = {
  tenant: { override: 'rate_percent' },
  secretKey: { override: 'rate_percent' },
  publishableKey: { override: 'rate_percent' },
  address: { same: 'counts callers without a key, so that no tenant is known' },
  signIn: { same: 'counts people before it is known who they are' },
}

const ofVariables: Record<string, Decision> = {
  ATRIUM_RATE_LIMIT: { override: 'rate_percent' },
  ATRIUM_PAINT_ALLOWANCE: { override: 'paints_per_month' },
  ATRIUM_PAINTS_PER_ADDRESS: { override: 'paints_per_address' },
  ATRIUM_PAINTS_PER_COLLECTION: { override: 'paints_per_collection' },
  ATRIUM_PAINTS_PER_DAY: { override: 'paints_per_day' },
  ATRIUM_UPLOAD_BYTES_PER_ADDRESS: { override: 'upload_bytes_per_address' },
  ATRIUM_STORED_BYTES: { override: 'stored_bytes' },
  ATRIUM_STREAMS_PER_TENANT: { override: 'open_streams' },
  ATRIUM_STREAMS: machine,
  ATRIUM_STREAMS_PER_ADDRESS: people,
  ATRIUM_SPACE_MAX_BYTES: { same: 'rooms belong to people, and to no tenant' },
  ATRIUM_SPACE_ROOMS_PER_HOUR: people,
  ATRIUM_SPACE_BYTES_PER_DAY: people,
  ATRIUM_SPACE_UNUSED_DAYS: retention,
  ATRIUM_SESSION_RETENTION_DAYS: retention,
  ATRIUM_CHECKOUT_RETENTION_DAYS: retention,
  ATRIUM_EVENT_RETENTION_DAYS: retention,
  ATRIUM_AUDIT_RETENTION_DAYS: retention,
  ATRIUM_REQUEST_RETENTION_DAYS: retention,
}

/** The names of all variables that the server reads and whose value bounds something. */
function boundingVariables(): string[] {
  const read = new Set<string>()
  const env = new Proxy<NodeJS.ProcessEnv>({}, { get: (_, name) => (read.add(String(name)), undefined) })
  readEnv(env)
  return [...read].filter(
    (name) => /LIMIT|ALLOWANCE|_PER_|BYTES|STREAMS|RETENTION|_MAX_|DAYS/.test(name) && !name.endsWith('_FILE'),
  )
}

test('each variable that bounds something is decided', () => {
  const undecided = boundingVariables().filter((name) => !(name in ofVariables))
  assert.deepEqual(undecided, [])
})

test('each override overrides a limit, and the database has a column for each and no other', async () => {
  const decisions = [ofContract, ofRates, ofVariables].flatMap((table) => Object.values<Decision>(table))
  const overridden = new Set(decisions.flatMap((decision) => ('override' in decision ? [decision.override] : [])))
  assert.deepEqual([...overridden].sort(), [...limitNames].sort())
  const schema = await readFile(new URL('../../../../../migrations/schema.sql', import.meta.url), 'utf8')
  const [, table] = /create table tenant_limits \(([^;]*)\);/i.exec(schema) ?? []
  assert.ok(table, 'schema.sql has the table')
  const columns = [...table.matchAll(/^ +(\w+) bigint/gm)].map(([, name]) => name!)
  assert.deepEqual(columns.sort(), [...limitNames].sort())
})

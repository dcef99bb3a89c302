import { createServer, connect, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { freePort } from './atrium-process.ts'
import { addDirectUrl, pooledUrlOf } from './pooled-database.ts'

/**
 * Where a connection is paused: at the nth statement, before PostgreSQL receives it, or after its reply, before the
 * client receives that.
 */
interface HoldPoint {
  nth: number
  when: 'before' | 'after'
  /** Only statements that begin so are counted. */
  of?: string
  /** Only transactions are counted in which a statement contains this text before the point. */
  inTransactionWith?: string
}

/** A proxy between the server and PostgreSQL that reads as much of the protocol as it needs to separate statements. */
export interface PostgresProxy {
  /** For DATABASE_URL. */
  url: string
  /** The statements since the last call, without the listener's own. */
  takeStatements(): string[]
  /** Pauses the next connection that reaches the point, and resolves to the statement. Counting starts now. */
  hold(point: HoldPoint): Promise<string>
  /** Lets all that is held go on. */
  release(): void
  /** Withholds every NotificationResponse from the clients. */
  dropNotifications(drop: boolean): void
  /** Nothing passes, and nobody is notified, as in a network that drops packets. */
  freeze(): void
  thaw(): void
  /** Ends all connections and refuses new ones. */
  cut(): Promise<void>
  restore(): Promise<void>
  close(): Promise<void>
}

interface Connection {
  client: Socket
  upstream: Socket
  /** It sent `listen`, so that its probes do not count. */
  listens: boolean
  /** The text of each prepared statement, by its name. */
  prepared: Map<string, string>
  /** The statements since its last `begin`. */
  transaction: string[]
  /** Set while replies wait until ReadyForQuery: the function to call then. */
  onReady: (() => Promise<void>) | undefined
}

interface Message {
  type: string
  bytes: Buffer
}

export async function startPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const upstreamUrl = new URL(databaseUrl)
  const folder = upstreamUrl.searchParams.get('host')
  // The nodes of a Citus cluster have ports.
  const dial = () =>
    folder === null ? connect(Number(upstreamUrl.port), upstreamUrl.hostname) : connect(`${folder}/.s.PGSQL.5432`)
  const pooler = pooledUrlOf(databaseUrl)
  const connections = new Set<Connection>()
  let statements: string[] = []
  let armed: (HoldPoint & { count: number; stands: (statement: string) => void }) | undefined
  let held = Promise.withResolvers<void>()
  let ice: PromiseWithResolvers<void> | undefined
  let dropping = false

  const beforeStatement = async (connection: Connection, statement: string): Promise<void> => {
    if (statement.startsWith('listen ')) connection.listens = true
    // A new connection sets up its session first, or looks at its pooler. When that happens depends on the pool.
    if (statement.startsWith('set timezone ') || statement.startsWith('select from pg_prepared_statements')) return
    if (connection.listens || (isByTheClock(statement) && armed?.of === undefined)) return
    statements.push(statement)
    if (statement.startsWith('begin')) connection.transaction = []
    connection.transaction.push(statement)
    if (!armed || !isMeant(armed, statement, connection) || ++armed.count !== armed.nth) return
    const { when, stands } = armed
    armed = undefined
    const standStill = () => {
      stands(statement)
      return held.promise
    }
    if (when === 'before') await standStill()
    else connection.onReady = standStill
  }

  const pumpClient = async (connection: Connection) => {
    let unit: Buffer[] = []
    let statement = ''
    for await (const { type, bytes } of messages(connection.client, true)) {
      unit.push(bytes)
      statement = statementOf(connection, type, bytes) ?? statement
      // An extended query is one unit up to its Sync, so it is forwarded only as a whole.
      if ('PBDECF'.includes(type) && type !== '') continue
      await ice?.promise
      if (type === 'Q' || type === 'S') await beforeStatement(connection, statement)
      connection.upstream.write(Buffer.concat(unit))
      unit = []
    }
  }

  const pumpUpstream = async (connection: Connection) => {
    let waiting: Buffer[] = []
    for await (const { type, bytes } of messages(connection.upstream, false)) {
      if (type === 'A' && dropping) continue
      waiting.push(bytes)
      if (connection.onReady && type !== 'Z') continue
      const { onReady } = connection
      connection.onReady = undefined
      await onReady?.()
      await ice?.promise
      // Sends what arrived meanwhile in the same packet, so that the end of a connection can directly follow a reply.
      connection.client.cork()
      setImmediate(() => connection.client.uncork())
      connection.client.write(Buffer.concat(waiting))
      waiting = []
    }
  }

  const lead = (client: Socket, upstream: Socket) => {
    const connection: Connection = { client, upstream, listens: false, prepared: new Map(), transaction: [], onReady: undefined }
    connections.add(connection)
    const end = () => {
      connections.delete(connection)
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) socket.setNoDelay(true).on('error', end).on('close', end)
    // A socket that closes within a message ends its pump. The handlers above have cleaned up.
    pumpClient(connection).catch(end)
    pumpUpstream(connection).catch(end)
  }
  const toServer = createServer((client) => lead(client, dial()))
  const toPooler = pooler && createServer((client) => lead(client, connect(Number(pooler.port), pooler.hostname)))
  // No ephemeral ports: after a cut, the same ports are opened again.
  const entries = await Promise.all(
    [toServer, ...(toPooler ? [toPooler] : [])].map(async (server) => ({ server, port: await listen(server, await freePort()) })),
  )
  // Does not keep the process alive if a test fails before it closes the proxy.
  for (const { server } of entries) server.unref()
  const [directUrl = '', url = directUrl] = entries.map(
    ({ port }) => `postgresql://${upstreamUrl.username}@127.0.0.1:${port}${upstreamUrl.pathname}`,
  )
  if (url !== directUrl) addDirectUrl(url, directUrl)

  return {
    url,
    takeStatements: () => statements.splice(0),
    hold: (point) =>
      new Promise((stands) => {
        armed = { ...point, count: 0, stands }
      }),
    release: () => {
      armed = undefined
      held.resolve()
      held = Promise.withResolvers()
    },
    dropNotifications: (drop) => {
      dropping = drop
    },
    freeze: () => {
      ice ??= Promise.withResolvers()
    },
    thaw: () => {
      ice?.resolve()
      ice = undefined
    },
    cut: async () => {
      const closed = entries.map(({ server }) => new Promise((resolve) => server.close(resolve)))
      // Closes both sides, because held bytes must not reach PostgreSQL on a release.
      for (const { client, upstream } of connections) {
        client.destroy()
        upstream.destroy()
      }
      await Promise.all(closed)
    },
    restore: async () => {
      await Promise.all(entries.map(({ server, port }) => listen(server, port)))
    },
    close: async () => {
      for (const { server } of entries) server.close()
      for (const { client } of connections) client.destroy()
    },
  }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

function isMeant({ of = '', inTransactionWith = '' }: HoldPoint, statement: string, { transaction }: Connection): boolean {
  return statement.startsWith(of) && transaction.some((earlier) => earlier.includes(inTransactionWith))
}

/** Splits a stream into messages with a type and a length. The client's first message has no type. */
async function* messages(socket: Socket, fromClient: boolean): AsyncGenerator<Message> {
  let rest: Buffer = Buffer.alloc(0)
  let first = fromClient
  for await (const chunk of socket) {
    rest = Buffer.concat([rest, chunk as Buffer])
    for (;;) {
      const lengthAt = first ? 0 : 1
      if (rest.length < lengthAt + 4) break
      const end = lengthAt + rest.readInt32BE(lengthAt)
      if (rest.length < end) break
      yield { type: first ? '' : String.fromCharCode(rest[0]!), bytes: rest.subarray(0, end) }
      rest = rest.subarray(end)
      first = false
    }
  }
}

/**
 * Statements that the server sends periodically are not part of an operation. Of those of the sweeps, only some are
 * here: a test that counts statements also calls stopSweeps.
 */
const byTheClock = [
  // Known keys are looked up again when they are some seconds old.
  'where k.key_hash = any($1)',
  // Sent together with the first statement of an operation, so that it comes before or after it.
  "select status = 'active' as active from tenants",
  'insert into usage_writers',
  'delete from usage_writers',
  'update api_keys k set last_used_at',
  'delete from idempotency_keys',
  'update sessions set lease',
  'update sessions set notice_due',
  'select id from sessions',
  "from sessions where status = 'armed' and expires_at <= now()",
  'with recursive present (tenant_id)',
  'insert into database_contact',
  'delete from sessions s using due',
  'delete from checkouts where',
  'from ledger_due d',
  'platform_keys',
  'update artifact_jobs set lease',
  'update blob_deletions set due_at',
  'pg_notify(',
  'from event_outbox where tenant_id > $1',
  'from event_outbox x where x.tenant_id',
  'chain_outbox(',
  // The same on Citus, and what is looked at before.
  'number_spread(',
  'select w.tenant_id from unnest($1::text[], $2::bigint[])',
  'update event_heads set chain_sequence',
  'and sequence > $2 and sequence <= $3 order by',
  'from events where created_at <',
  'select exists (select from api_keys where revoked_at is null and expiry_notices',
  'from webhook_deliveries where status',
  'from webhook_endpoint_deliveries where status',
  'from webhooks w where (w.tenant_id',
  'from webhook_endpoints w where (w.tenant_id',
  // The same on Citus.
  'from webhook_queues q',
  'update webhook_queues q set due_at',
  'd.next_attempt_at <= now() as is_due',
  'update webhooks w set lease',
  'update webhook_endpoints w set lease',
  'sweep_leases',
  'insert into request_log_chunks',
  'insert into processes',
  'ledger_proof',
  "where status = 'active' and card is null",
  'update agents a set card =',
  // The transparency log, and the root of the books.
  'log_leaves',
  'log_tree',
  'log_checkpoints',
  'log_tiles',
  'log_entries',
  'books_',
  'set transaction isolation level repeatable read',
  "kind when 'platform' then balance",
  "kind not in ('platform', 'loss') and balance > 0",
  'update webhooks w set enabled = false',
  'from webhook_secrets s where (s.tenant_id',
  'from webhook_endpoint_secrets s where (s.tenant_id',
  'with due as materialized',
  'with input as ( select * from unnest($2::text[], $3::text[], $4::bigint[], $5::boolean[]',
]

function isByTheClock(statement: string): boolean {
  return byTheClock.some((part) => statement.includes(part))
}

/** The text of the statement that the message runs or names, on one line. */
function statementOf({ prepared }: Connection, type: string, bytes: Buffer): string | undefined {
  if (type === 'Q') return oneLine(textAt(bytes, 5))
  if (type === 'P') {
    const name = textAt(bytes, 5)
    const text = oneLine(textAt(bytes, 6 + Buffer.byteLength(name)))
    prepared.set(name, text)
    return text
  }
  if (type !== 'B') return undefined
  const portal = textAt(bytes, 5)
  return prepared.get(textAt(bytes, 6 + Buffer.byteLength(portal)))
}

function textAt(bytes: Buffer, start: number): string {
  return bytes.toString('utf8', start, bytes.indexOf(0, start))
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

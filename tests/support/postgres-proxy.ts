import { createServer, connect, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'

/**
 * Where a connection shall stand still: at the nth statement, before PostgreSQL gets it, or when its reply came,
 * before the client does.
 */
interface HoldPoint {
  nth: number
  when: 'before' | 'after'
  /** Only statements that begin so are counted. */
  of?: string
}

/**
 * Stands between the server and PostgreSQL and understands as much of the protocol as it takes to tell statements
 * apart.
 */
export interface PostgresProxy {
  /** For DATABASE_URL. */
  url: string
  /** The statements that went through since the last call; the listener's own are left out. */
  takeStatements(): string[]
  /**
   * Holds the next connection that comes to the point, and says when it did and at which statement. Count starts now.
   */
  hold(point: HoldPoint): Promise<string>
  /** Lets all that is held go on. */
  release(): void
  /** Keeps every NotificationResponse from the clients. */
  dropNotifications(drop: boolean): void
  /** Nothing goes through, and nobody is told: a network that swallows packets. */
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
  /** It said `listen`, so that its probes do not count. */
  listens: boolean
  /** The text of each prepared statement, by its name. */
  prepared: Map<string, string>
  /** Set while replies wait until ReadyForQuery: what then happens. */
  onReady: (() => Promise<void>) | undefined
}

interface Message {
  type: string
  bytes: Buffer
}

export async function startPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const upstreamUrl = new URL(databaseUrl)
  const socketPath = `${upstreamUrl.searchParams.get('host')}/.s.PGSQL.5432`
  const connections = new Set<Connection>()
  let statements: string[] = []
  let armed: (HoldPoint & { count: number; stands: (statement: string) => void }) | undefined
  let held = Promise.withResolvers<void>()
  let ice: PromiseWithResolvers<void> | undefined
  let dropping = false

  const beforeStatement = async (connection: Connection, statement: string): Promise<void> => {
    if (statement.startsWith('listen ')) connection.listens = true
    // A connection that is new sets up its session first: when that happens is a matter of the pool.
    if (statement.startsWith('set timezone ')) return
    if (connection.listens || (isByTheClock(statement) && armed?.of === undefined)) return
    statements.push(statement)
    if (!armed || (armed.of !== undefined && !statement.startsWith(armed.of)) || ++armed.count !== armed.nth) return
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
      // An extended query is one unit up to its Sync, and is not begun before.
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
      // What came meanwhile goes in one packet with it: so a connection's end can be made to follow a reply at once.
      connection.client.cork()
      setImmediate(() => connection.client.uncork())
      connection.client.write(Buffer.concat(waiting))
      waiting = []
    }
  }

  const server = createServer((client) => {
    const upstream = connect(socketPath)
    const connection: Connection = { client, upstream, listens: false, prepared: new Map(), onReady: undefined }
    connections.add(connection)
    const end = () => {
      connections.delete(connection)
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) socket.setNoDelay(true).on('error', end).on('close', end)
    // A socket that breaks in mid-message ends its pump; the handlers above have cleaned up.
    pumpClient(connection).catch(end)
    pumpUpstream(connection).catch(end)
  })
  const port = await listen(server, 0)
  // A test that failed before it could close it should end all the same.
  server.unref()

  return {
    url: `postgresql://${upstreamUrl.username}@127.0.0.1:${port}${upstreamUrl.pathname}`,
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
      const closed = new Promise((resolve) => server.close(resolve))
      // Both sides: what is held must not reach PostgreSQL when it is released.
      for (const { client, upstream } of connections) {
        client.destroy()
        upstream.destroy()
      }
      await closed
    },
    restore: async () => {
      await listen(server, port)
    },
    close: async () => {
      server.close()
      for (const { client } of connections) client.destroy()
    },
  }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

/** Cuts a stream into messages: a type and a length, but for the client's first, which has no type. */
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

/** What the server does by the clock is no part of any operation. */
const byTheClock = [
  // Known keys too are looked up anew when they are some seconds old.
  'where k.key_hash = any($1)',
  'insert into usage_writers',
  'delete from usage_writers',
  'update api_keys k set last_used_at',
  'delete from idempotency_keys',
  'update sessions set lease',
  'update sessions set notice_due',
  'select id from sessions',
  "from sessions where status = 'armed' and expires_at <= now()",
  'insert into database_contact',
  'delete from sessions s using due',
  'delete from checkouts where',
  'from ledger_due d',
  'platform_keys',
  'update artifact_jobs set lease',
  'update blob_deletions set due_at',
  'notify atrium_events',
  'from event_outbox where tenant_id > $1',
  'number_events(',
  'select exists (select from events where created_at',
  'select exists (select from api_keys where revoked_at is null and expiry_notices',
  'from webhook_deliveries where status',
  'from webhooks where tenant_id = any',
  'update webhooks set lease',
  'sweep_leases',
  'ledger_proof',
  'update webhooks set enabled = false',
  'from webhook_secrets where tenant_id = any',
  'with due as materialized',
  'try_write_outcomes(',
  'with free as ( select tenant_id from webhooks',
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

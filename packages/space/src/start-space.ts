import type { AddressInfo } from 'node:net'
import { isIssuer } from '@atrium/identity/discovery'
import { ProviderKeys } from '@atrium/identity/provider-keys'
import { Batcher } from '@atrium/traffic/batcher'
import { MemoryRateLimiter } from '@atrium/traffic/memory-rate-limiter'
import { Semaphore } from '@atrium/traffic/semaphore'
import { assertAddresses } from '@atrium/traffic/postgres/assert-addresses'
import { Shards } from '@atrium/traffic/shards'
import { UnreadAnswers } from '@atrium/traffic/unread-answers'
import { keepOptimisedCode, keepRequestsYoung } from '@atrium/traffic/v8-flags'
import { makeCertificate } from './certificate/certificate.ts'
import { type Egress, findEgress, openEgress } from './certificate/egress.ts'
import { readSigningKey, secretOf } from './certificate/signing-key.ts'
import type { SpaceBuild } from './certificate/space-build.ts'
import { openDatabase } from './open-database.ts'
import { tooManyUnread } from './space-error.ts'
import { makeSpaceServer } from './http/space-server.ts'
import { staticFiles } from './http/static-files.ts'
import { FairShares } from './rooms/fair-shares.ts'
import { RoomWatch } from './rooms/room-watch.ts'
import { RoomWriter } from './rooms/room-writer.ts'
import { listEnds, listHeads, listRoomShards } from './rooms/store.ts'
import { SpaceMetrics } from './metrics.ts'
import { readSpaceConfig } from './space-config.ts'
import { SpaceUse } from './use/space-use.ts'
import { startSweeping } from './use/start-sweeping.ts'
import type { SpaceContext, TrustedIssuer } from './space-context.ts'
import { UnconfirmedRestore } from './unconfirmed-restore.ts'

export interface RunningSpace {
  port: number
  /** How many polls are held now. */
  held(): number
  readonly metrics: SpaceMetrics
  /** Before `stop`: ends the connections without failing a request. Held polls are answered. */
  drain(): Promise<void>
  stop(): Promise<void>
}

interface StartSpace {
  env: NodeJS.ProcessEnv
  build: SpaceBuild
  log?: (line: string) => void
}

/** Starts the Space service. The database must be migrated already. */
export async function startSpace({ env, build, log = logLine }: StartSpace): Promise<RunningSpace> {
  keepRequestsYoung()
  keepOptimisedCode()
  const config = readSpaceConfig(env)
  const { databaseUrl: url, databaseDirectUrl: directUrl } = config
  await assertAddresses({ url, directUrl })
  const db = openDatabase({
    url,
    isPooled: directUrl !== undefined,
    max: config.databasePoolSize,
    onError: (error) => log(`database connection lost: ${error.message}`),
    onWakeUpError: (error) => log(`other processes not notified; they find the changes when they poll: ${error.message}`),
  })
  const watch = new RoomWatch({
    url: directUrl ?? url,
    readEnds: (rooms) => listEnds(db, rooms),
    onError: (error) => log(`room notifications lost; reconnecting: ${error.message}`),
    onReadError: (error) => log(`rooms of held polls not read; trying again: ${error.message}`),
  })
  await watch.start()

  const platformIssuer = isIssuer(config.apiUrl) ? config.apiUrl : undefined
  if (platformIssuer === undefined) log('agents are not let in: ATRIUM_PUBLIC_URL is plain http and not on loopback')
  const found = await findEgress({ platformIssuer, issuer: config.oidc?.issuer, keysOrigin: config.oidc?.keysOrigin })
  if (found.problem) log(`the identity provider was not reachable at start; its keys are looked for at its own origin alone`)
  const egress = openEgress(found.egress)
  const signingKey = await readSigningKey({ variable: config.signingKey, dataDir: config.dataDir })
  const certificate = makeCertificate({ build, signingKey, service: 'atrium-space', egress: egress.allowed })
  const lost = (error: Error) => log(`counting what is written failed: ${error.message}`)
  const { rateLimitFactor: factor, maxBytes, unusedDays } = config
  const use = new SpaceUse({
    db,
    secret: secretOf(signingKey, 'atrium/space-use/v1'),
    bytesPerDay: Math.ceil(config.bytesPerDay * factor),
    roomsPerHour: Math.ceil(config.roomsPerHour * factor),
    maxBytes,
    onError: lost,
  })
  await use.start()
  const restore = new UnconfirmedRestore(db, lost)
  await restore.start()
  if (restore.exists) log('a restore is not confirmed: no room is opened until then')
  const stopSweeping = startSweeping({ db, unusedDays, onError: lost })
  const shards = new Shards(await listRoomShards(db))
  const writer = new RoomWriter(db, shards)
  const madeAt = Date.now() / 1_000
  const { pool } = db
  const metrics = new SpaceMetrics({
    held_polls: { help: 'Polls that wait for news of their room.', read: () => watch.held },
    lines_waiting: { help: 'Lines that wait to be written.', read: () => writer.waitingCount },
    stored_bytes: { help: 'Bytes of all rooms.', read: () => use.totalBytes },
    max_bytes: { help: 'Bytes that all rooms together may have.', read: () => maxBytes },
    db_connections_busy: { help: 'Database connections in use.', read: () => pool.totalCount - pool.idleCount },
    db_connections_waited_for: { help: 'Statements that wait for a database connection.', read: () => pool.waitingCount },
    certificate_timestamp_seconds: { help: 'When the certificate in use was signed.', read: () => madeAt },
  })
  const ctx: SpaceContext = {
    db,
    metrics,
    restore,
    use,
    heads: new Batcher({
      run: (rooms) => listHeads(db, rooms),
      laneOf: (room) => shards.shardOf(room),
      maxSize: 256,
      concurrency: shards.count > 1 ? 12 : 4,
    }),
    writer,
    watch,
    unread: new UnreadAnswers(),
    largePages: new Semaphore(4, { maxWaiting: 1_000, timeoutMs: 5_000, refusal: tooManyUnread }),
    downloads: new FairShares({ total: 256, most: { address: 8, network: 32, room: 128 } }),
    limiter: new MemoryRateLimiter(),
    certificate,
    audience: config.spacesUrl,
    provider: config.oidc && trust(config.oidc.issuer, config.oidc.clientId, egress),
    platform: platformIssuer === undefined ? undefined : trust(platformIssuer, config.spacesUrl, egress),
  }
  const { server, drain } = makeSpaceServer({ ctx, config, files: staticFiles(build, certificate, config), log })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(config.port, config.host, 1_024, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    held: () => watch.held,
    metrics,
    drain,
    stop: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      await watch.close()
      const deadline = setTimeout(() => server.closeAllConnections(), 5_000)
      await closed
      clearTimeout(deadline)
      stopSweeping()
      restore.stop()
      await use.stop()
      await db.end()
    },
  }
}

function trust(issuer: string, audience: string, { fetchJson }: Egress): TrustedIssuer {
  return { issuer, audience, keys: new ProviderKeys({ issuer, fetchJson }) }
}

function logLine(line: string): void {
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), service: 'atrium-space', msg: line })}\n`)
}

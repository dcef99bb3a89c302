import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import type { SpaceBuild } from '@atrium/space/certificate/space-build'
import { RoomWriter } from '@atrium/space/rooms/room-writer'
import { listHeads } from '@atrium/space/rooms/store'
import { startSpace } from '@atrium/space/start-space'
import type { Position } from '@atrium/sealing/line'
import { sealLine } from '@atrium/sealing/node-lines'
import { formatRecord } from '@atrium/sealing/records'
import { deriveRoomKey } from '@atrium/sealing/room-key'
import { placeLine } from '@atrium/sealing/signed-request'
import pg from 'pg'
import { freePort } from '../../../../../tests/support/atrium-process.ts'
import { createTestDatabase } from '../../../../server/testing/test-database.ts'
import { buildApp, signInAtStub, type StartSpace, type TestSpace } from './start-space.ts'
import { sealWritings } from './seal-writings.ts'
import { startStubProvider } from './stub-provider.ts'
import { writingsOf } from './writings.ts'

/** As many as the writer lets wait for one room. */
const maxWaiting = 256

const TYPES: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' }

/**
 * The real Space service with PostgreSQL in this process, with the built app and an identity provider that accepts
 * everyone.
 */
export const startRealSpace: StartSpace = async () => {
  const [appFolder, database, provider] = await Promise.all([buildApp(), createTestDatabase(), startStubProvider()])
  const dataDir = await mkdtemp(join(tmpdir(), 'space-data-'))
  const space = await startSpace({
    build: await readBuild(appFolder),
    env: {
      // Signatures of client-sealed rooms name the origin, which the service must know at its start.
      SPACE_PORT: String(await freePort()),
      DATABASE_URL: database.url,
      ATRIUM_DATA_DIR: dataDir,
      ATRIUM_RATE_LIMIT: 'off',
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: provider.clientId,
    },
    log: () => undefined,
  })
  const wake = (channel: string, payload: string) => void db.query('select pg_notify($1, $2)', [channel, payload])
  const db = Object.assign(new pg.Pool({ connectionString: database.url, max: 4 }), { wake })
  // Bypasses the endpoint, which would accept neither an agent without an agent's token nor 5,000 messages at once.
  const append = async (room: string, seals: readonly ((position: Position) => string)[]) => {
    const [head] = await listHeads(db, [room])
    const writer = new RoomWriter(db)
    for (let at = 0; at < seals.length; at += maxWaiting) {
      const some = seals.slice(at, at + maxWaiting)
      await Promise.all(some.map((seal) => writer.append({ head: head!, seal, isPolicy: false, dedupe: undefined })))
    }
  }
  const add: TestSpace['add'] = (secret, records) => {
    const key = deriveRoomKey(secret)
    return append(
      secret.room,
      records.map((record) => (position) => sealLine({ key, ...position, payload: formatRecord(record) })),
    )
  }
  const addLines = (room: string, lines: readonly string[]) => {
    const seals = lines.map((line) => (position: Position) => placeLine(line, position))
    return append(room, seals)
  }
  return {
    origin: `http://localhost:${space.port}`,
    fill: (secret, count) => add(secret, writingsOf(count)),
    add,
    async fillSealed(secret, count) {
      const [head] = await listHeads(db, [secret.room])
      await addLines(secret.room, await sealWritings(secret, head!.etag, count))
    },
    addLines,
    signIn: signInAtStub,
    async tamper(room) {
      await db.query(
        "update room_lines set line = regexp_replace(line, '\"tag\":\".', '\"tag\":\"' || case when line ~ '\"tag\":\"A' then 'B' else 'A' end) where room = $1 and seq = 1",
        [room],
      )
    },
    claim: (claims) => provider.claim(claims),
    async stop() {
      await space.stop()
      await db.end()
      await database.drop()
      provider.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function readBuild(folder: string): Promise<SpaceBuild> {
  const names = await readdir(join(folder, 'assets'))
  const assets = names.map(async (name) => ({
    path: `/space/assets/${name}`,
    contentType: TYPES[extname(name)] ?? 'application/octet-stream',
    body: await readFile(join(folder, 'assets', name)),
  }))
  const page = { path: '/space', contentType: 'text/html; charset=utf-8', body: await readFile(join(folder, 'index.html')) }
  return {
    gitCommit: 'test',
    functionCode: Buffer.from('code'),
    sourceArchive: Buffer.from('source'),
    app: [page, ...(await Promise.all(assets))],
  }
}

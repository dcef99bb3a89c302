/** The roles, each in a container of its own, over one database and one folder of files. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { adminToken, freePort } from '../support/atrium-process.ts'
import { type Container, type Image, startContainer, untilAnswers } from './container.ts'

export type Role = 'api' | 'worker' | 'space'
const roles: readonly Role[] = ['space', 'api', 'worker']

export interface Platform {
  origin: string
  spacesOrigin: string
  /** For backups, at /run/backup in each container. */
  backups: string
  /** Runs `atrium ARGS` and waits. Fails if it fails. Returns what it printed. */
  atrium(...args: string[]): Promise<string>
  start(role: Role): void
  /** Starts all, and waits until they answer. */
  startAll(): Promise<void>
  role(role: Role): Container
  /** Runs the image's health check for the role. Fails with what it printed. */
  assertHealth(role: Role): Promise<void>
  said(): string
  /** Where the role's answers tell that it is up. The worker has metrics. */
  healthUrl(role: Role): string
  /** The same secrets and addresses on a new machine: another database, no files. */
  moveTo(databaseUrl: string): Promise<void>
  killAll(): Promise<void>
}

export async function makePlatform(
  image: Image,
  folder: string,
  databaseUrl: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Platform> {
  const [port, spacePort, metricsPort] = [await freePort(), await freePort(), await freePort()]
  const secrets = await mkdtemp(join(folder, 'secrets-'))
  const write = (name: string, text: string) => writeFile(join(secrets, name), `${text}\n`)
  const [owner = 0, group = 0] = image.config.User.split(':').map(Number)
  const makeFolder = async (name: string) => {
    const made = await mkdtemp(join(folder, `${name}-`))
    await chown(made, owner, group)
    return made
  }
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  await write('database-url', databaseUrl)
  await write('admin-token', adminToken)
  await write('master-key', Buffer.alloc(32, 7).toString('base64'))
  await write('space-signing-key', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
  // Engines mount it for the container's user.
  await chown(secrets, owner, group)
  const backups = await makeFolder('backups')
  let data = await makeFolder('data')

  const shared = {
    // Not production: the acceptance tests show the demo's pictures.
    NODE_ENV: 'test',
    HOST: '127.0.0.1',
    PORT: String(port),
    SPACE_PORT: String(spacePort),
    ATRIUM_PUBLIC_URL: `http://localhost:${port}`,
    ATRIUM_SPACES_URL: `http://localhost:${spacePort}`,
    DATABASE_URL_FILE: '/run/secrets/database-url',
    ATRIUM_MIGRATE: 'off',
    ...settings,
  }
  const keys = { ATRIUM_ADMIN_TOKEN_FILE: '/run/secrets/admin-token', ATRIUM_MASTER_KEY_FILE: '/run/secrets/master-key' }
  const metrics = { ATRIUM_METRICS_PORT: String(metricsPort), ATRIUM_METRICS_HOST: '127.0.0.1' }
  const environments: Record<Role, Record<string, string>> = {
    api: keys,
    worker: { ...keys, ...metrics },
    // One address asks for everybody here.
    space: { ATRIUM_SPACE_SIGNING_KEY_FILE: '/run/secrets/space-signing-key', ATRIUM_RATE_LIMIT: 'off' },
  }
  const running = new Map<Role, Container>()
  const printed: Container[] = []
  const run = (args: string[], env: Record<string, string>, entrypoint?: string[]) => {
    const volumes = [`${secrets}:/run/secrets:ro`, `${data}:/data`, `${backups}:/run/backup`]
    const container = startContainer(image, { args, env: { ...shared, ...env }, volumes, ...(entrypoint && { entrypoint }) })
    printed.push(container)
    return container
  }
  const healthUrls: Record<Role, string> = {
    api: `http://localhost:${port}/readyz`,
    space: `http://localhost:${spacePort}/cert.json`,
    worker: `http://localhost:${metricsPort}/metrics`,
  }
  const said = () => printed.map((container) => container.output().slice(-3_000)).join('\n')
  const platform: Platform = {
    origin: shared.ATRIUM_PUBLIC_URL,
    spacesOrigin: shared.ATRIUM_SPACES_URL,
    backups,
    atrium: async (...args) => {
      const container = run(args, { ...keys, ATRIUM_MIGRATE: 'on' })
      assert.equal(await container.ended(), 0, container.output())
      return container.output()
    },
    start: (role) => void running.set(role, run([role], environments[role])),
    startAll: async () => {
      for (const role of roles) platform.start(role)
      await Promise.all(roles.map((role) => untilAnswers(healthUrls[role], said)))
    },
    role: (role) => running.get(role)!,
    assertHealth: async (role) => {
      const container = run([role], environments[role], ['node', '/app/deploy/container/health.mjs'])
      assert.equal(await container.ended(), 0, container.output())
    },
    said,
    healthUrl: (role) => healthUrls[role],
    moveTo: async (url) => {
      await platform.killAll()
      await rm(data, { recursive: true })
      data = await makeFolder('data')
      await write('database-url', url)
    },
    killAll: async () => {
      for (const container of running.values()) await container.stop('SIGKILL')
    },
  }
  return platform
}

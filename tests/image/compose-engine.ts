/** What `podman compose up` does with a compose file, as far as deploy/compose.yaml uses it; anything else is refused. */
import assert from 'node:assert/strict'
import { chown, mkdir, readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type ComposeFile, millisecondsOf, readCompose, type Service } from './compose-file.ts'
import { type Container, type Image, startContainer } from './container.ts'
import { type Networks, openNetworks } from './network.ts'
import { standIns } from './stand-ins.ts'

const known = new Set(
  'image command environment secrets volumes tmpfs read_only cap_drop security_opt healthcheck networks depends_on'.split(' '),
)
/** Of no effect here: what restarts, ends in time, is published or has its memory limited is not under test. */
const ignored = new Set('restart stop_grace_period shm_size ports'.split(' '))

export interface Composition {
  file: ComposeFile
  networks: Networks
  /** The order in which the services were started. */
  started: readonly string[]
  container(service: string): Container
  /** Waits until the service's health check succeeds. */
  untilHealthy(service: string): Promise<void>
  said(): string
  /** Ends all services, or this one. */
  stop(service?: string): Promise<void>
  /** Starts the service again. */
  start(service: string): Promise<void>
  /** As `run --rm --no-deps -v VOLUME … SERVICE ARGS`: waits until it has ended. */
  runOnce(service: string, args: readonly string[], volumes: readonly string[]): Promise<{ code: number; output: string }>
}

/** Starts all services of FOLDER/compose.yaml, each when those that it depends on are ready. */
export async function composeUp(
  folder: string,
  image: Image,
  settings: Readonly<Record<string, string>>,
  /** Given to the roles, beside what the file says: whom they trust. */
  extra: { env: Readonly<Record<string, string>>; volumes: readonly string[] },
): Promise<Composition> {
  const file = readCompose(await readFile(join(folder, 'compose.yaml'), 'utf8'), settings)
  const networks = await openNetworks(join(folder, 'hosts'), rangesOf(file), plansOf(file))
  const running = new Map<string, Container>()
  const printed: [string, Container][] = []
  const started: string[] = []
  const said = () => printed.map(([name, one]) => `--- ${name}\n${one.output().slice(-3_000)}`).join('\n')

  const mountsOf = async ({ secrets = [], volumes = [], tmpfs = [] }: Service, root: string): Promise<string[]> => {
    const mounts = secrets.map((name) => `${resolve(folder, file.secrets[name]!.file)}:/run/secrets/${name}:ro`)
    for (const volume of volumes) {
      const [source = '', target = '', mode] = volume.split(':')
      const path = file.volumes[source] ? join(folder, 'volumes', source) : resolve(folder, source)
      if (file.volumes[source]) await makeVolume(path, join(root, target))
      mounts.push([path, target, ...(mode ? [mode] : [])].join(':'))
    }
    for (const one of tmpfs) {
      const [target = '', options = 'mode=1777'] = one.split(':')
      mounts.push(`tmpfs=${options}:${target}`)
    }
    return mounts
  }
  const open = async (name: string, args: readonly string[] | undefined, volumes: readonly string[]) => {
    const service = file.services[name]!
    for (const key of Object.keys(service)) assert.ok(known.has(key) || ignored.has(key), `${name} has ${key}`)
    const { root, config } = imageOf(service, image)
    const isOwn = root === image.root
    const container = startContainer(
      { root, config },
      {
        args: [...(args ?? service.command ?? [])],
        env: { ...service.environment, ...(isOwn ? extra.env : {}) },
        volumes: [...(await mountsOf(service, root)), ...(isOwn ? extra.volumes : []), ...volumes],
        host: networks.host(name),
        rights: {
          readOnlyRoot: service.read_only === true,
          dropCapabilities: service.cap_drop?.includes('ALL') === true,
          noNewPrivileges: service.security_opt?.includes('no-new-privileges:true') === true,
        },
      },
    )
    printed.push([name, container])
    return container
  }
  const start = async (name: string) => {
    started.push(name)
    running.set(name, await open(name, undefined, []))
  }
  const runOnce = async (name: string, args: readonly string[], volumes: readonly string[]) => {
    const container = await open(name, args, volumes)
    return { code: await container.ended(), output: container.output() }
  }
  const untilHealthy = async (name: string) => {
    const { test = [] } = file.services[name]!.healthcheck ?? {}
    const [kind, ...command] = test
    assert.ok(kind === 'CMD' || kind === 'CMD-SHELL', `${name} has a health check`)
    const { retries = 3, start_period = '0s', interval = '30s' } = file.services[name]!.healthcheck!
    const timeoutMs = Math.max(60_000, millisecondsOf(start_period) + retries * millisecondsOf(interval))
    for (const deadline = Date.now() + timeoutMs; ; await delay(250)) {
      const container = running.get(name)!
      assert.ok(!container.hasEnded(), `${name} has ended:\n${said()}`)
      const { code, output } = await container.exec(...(kind === 'CMD' ? command : ['sh', '-c', ...command]))
      if (code === 0) return
      assert.ok(Date.now() < deadline, `${name} is not healthy: ${output}\n${said()}`)
    }
  }
  const untilReady = async (name: string, condition: string) => {
    if (condition === 'service_healthy') return untilHealthy(name)
    assert.equal(condition, 'service_completed_successfully')
    assert.equal(await running.get(name)!.ended(), 0, said())
  }
  const up = new Map<string, Promise<void>>()
  const upOnce = (name: string): Promise<void> => {
    const begin = async () => {
      await Promise.all(
        Object.entries(file.services[name]!.depends_on ?? {}).map(async ([other, { condition }]) => {
          await upOnce(other)
          await untilReady(other, condition)
        }),
      )
      await start(name)
    }
    if (!up.has(name)) up.set(name, begin())
    return up.get(name)!
  }
  const stop = async (only?: string) => {
    for (const [name, container] of running) if (only === undefined || name === only) await container.stop('SIGKILL')
    if (only === undefined) await networks.close()
  }
  try {
    await Promise.all(Object.keys(file.services).map(upOnce))
  } catch (error) {
    await stop()
    throw error
  }
  return { file, networks, started, container: (name) => running.get(name)!, untilHealthy, said, stop, start, runOnce }
}

function rangesOf({ networks }: ComposeFile): Record<string, string> {
  const range = (subnet: string) => /^(\d+\.\d+\.\d+)\.0\/24$/.exec(subnet)![1]!
  return Object.fromEntries(Object.entries(networks).map(([name, { ipam }]) => [name, range(ipam.config[0]!.subnet)]))
}

/** The services are in one network, and get addresses from its `ip_range` unless they have one of their own. */
function plansOf({ services, networks: { atrium } }: ComposeFile) {
  const first = lastNumberOf(atrium!.ipam.config[0]!.ip_range)
  return Object.fromEntries(
    Object.entries(services).map(([name, { networks }], index) => {
      const number = first + 1 + index
      if (Array.isArray(networks)) return [name, { networks, number }]
      const aliases = Object.fromEntries(Object.entries(networks).map(([network, one]) => [network, one.aliases ?? []]))
      const own = networks['atrium']?.ipv4_address
      return [name, { networks: Object.keys(networks), aliases, number: own === undefined ? number : lastNumberOf(own) }]
    }),
  )
}

function lastNumberOf(address: string): number {
  return Number(/\.(\d+)(\/\d+)?$/.exec(address)![1])
}

function imageOf({ image }: Service, own: Image): Image {
  if (image === 'localhost/atrium:latest') return own
  const standIn = standIns[image.replace(/:[^/]*$/, '')]
  assert.ok(standIn, `nothing stands in for ${image}`)
  return standIn()
}

/** A new volume has the owner and the mode of what the image has there. */
async function makeVolume(path: string, target: string): Promise<void> {
  const made = await mkdir(path, { recursive: true })
  if (made === undefined) return
  const found = await stat(target).catch(() => undefined)
  if (found) await chown(path, found.uid, found.gid)
}

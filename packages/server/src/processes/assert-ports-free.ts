import { createServer, type Server } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { StartError } from '#errors/start-error.ts'
import { codeOf } from '#errors/caught.ts'

/** Processes of an installation that was killed a moment ago may still be stopping. */
const timeoutMs = 2_000
const pollIntervalMs = 100

export interface WantedPort {
  /** The variable that sets the port. */
  name: 'PORT' | 'SPACE_PORT' | 'ATRIUM_METRICS_PORT'
  port: number
}

const anyAddress = new Set(['0.0.0.0', '::'])

/** Throws StartError if two parts of this machine are to listen on the same port of one address. */
export function assertPortsDiffer(wanted: (WantedPort & { host: string })[]): void {
  for (const [i, one] of wanted.entries())
    for (const other of wanted.slice(0, i)) {
      const isShared = one.host === other.host || [one.host, other.host].some((host) => anyAddress.has(host))
      if (one.port !== 0 && one.port === other.port && isShared)
        throw new StartError(`${one.name} must be another port than ${other.name}, not ${one.port} too`)
    }
}

/**
 * Throws StartError if a port is not available, before anything is created. All ports are held at once, so that two
 * parts cannot use the same one.
 */
export async function assertPortsFree(host: string, wanted: WantedPort[]): Promise<void> {
  const held: Server[] = []
  try {
    for (const one of wanted) if (one.port !== 0) held.push(await holdPort(host, one))
  } finally {
    await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))))
  }
}

async function holdPort(host: string, { name, port }: WantedPort): Promise<Server> {
  for (const deadline = performance.now() + timeoutMs; ; await delay(pollIntervalMs)) {
    try {
      return await listen(host, port)
    } catch (error) {
      const inUse = codeOf(error) === 'EADDRINUSE'
      if (!inUse || performance.now() > deadline) throw listenError(error, { name, host, port })
    }
  }
}

function listen(host: string, port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ host, port }, () => resolve(server))
  })
}

/** The error for a port that cannot be listened on, with what to do. */
export function listenError(error: unknown, { name, host, port }: WantedPort & { host: string }): unknown {
  const code = codeOf(error)
  if (code === 'EADDRINUSE') return new StartError(`port ${port} is in use; stop what uses it or set ${name} to another one`)
  if (code === 'EACCES') return new StartError(`port ${port} may not be used by this user; set ${name} to one above 1023`)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new StartError(
      `${name === 'ATRIUM_METRICS_PORT' ? 'ATRIUM_METRICS_HOST' : 'HOST'} ${host} is not an address of this machine`,
    )
  return error
}

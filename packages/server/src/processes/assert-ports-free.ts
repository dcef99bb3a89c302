import { createServer, type Server } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { StartError } from '#errors/start-error.ts'
import { codeOf } from '#errors/caught.ts'

/** Processes of an installation that was killed a moment ago may still be on their way out. */
const patienceMs = 2_000
const lookEveryMs = 100

export interface WantedPort {
  /** The variable that sets it. */
  name: 'PORT' | 'SPACE_PORT'
  port: number
}

/**
 * Refuses a start one of whose ports cannot be had, before anything is made. All are held at once, so that two parts
 * do not want the same one.
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
  for (const deadline = Date.now() + patienceMs; ; await delay(lookEveryMs)) {
    try {
      return await listen(host, port)
    } catch (error) {
      const inUse = codeOf(error) === 'EADDRINUSE'
      if (!inUse || Date.now() > deadline) throw listenError(error, { name, host, port })
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

/** The reason and what to do, where a port cannot be listened on. */
export function listenError(error: unknown, { name, host, port }: WantedPort & { host: string }): unknown {
  const code = codeOf(error)
  if (code === 'EADDRINUSE') return new StartError(`port ${port} is in use; stop what uses it or set ${name} to another one`)
  if (code === 'EACCES') return new StartError(`port ${port} may not be used by this user; set ${name} to one above 1023`)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return new StartError(`HOST ${host} is not an address of this machine`)
  return error
}

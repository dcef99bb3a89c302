import { createClient, createCluster } from '@redis/client'

/**
 * The largest number of commands without an answer. With the breaker there are never as many; this limit keeps a
 * defect in it from exhausting the memory.
 */
const maxCommands = 4_000

/**
 * Part of the options of each client. The library makes a class with all commands of Redis, which takes 10 to 20 MiB.
 * It makes another one if the JSON of the options differs from that of the last options, and each node has another
 * address. With this `toJSON`, the JSON of all options is the same.
 */
const oneClass = { toJSON: () => 'atrium' }

/** A connection to a Redis, or the connections to the nodes of a Redis Cluster. */
export interface RedisConnection {
  eval(script: string, call: { keys: string[]; arguments: string[] }): Promise<unknown>
  /** The addresses of the nodes of a cluster. */
  nodeUrls: string[]
  /** Closes it, together with everything that waits for an answer on it. */
  destroy(): void
}

/**
 * Connects to a Redis, or to all nodes of the cluster that it belongs to. Rejects if that takes longer than `connectMs`.
 * `onLost` is called when a connection breaks, whichever: a cluster that lacks a node refuses commands anyway, until a
 * replica takes over. The client's own reconnection is off, because the caller opens another one.
 */
export async function openRedis(url: string, connectMs: number, onLost: (error: Error) => void): Promise<RedisConnection> {
  const common = {
    ...oneClass,
    disableOfflineQueue: true,
    commandsQueueMaxLength: maxCommands,
    socket: { connectTimeout: connectMs, reconnectStrategy: false as const },
  }
  const single = createClient({ ...common, url })
  let isCluster: boolean | undefined
  single.on('error', (error: Error) => isCluster || onLost(error))
  single.on('end', () => isCluster || onLost(new Error('the connection was closed')))
  try {
    await within(single.connect(), connectMs)
    isCluster = await within(belongsToCluster(single), connectMs)
  } catch (error) {
    destroy(single)
    throw error
  }
  if (!isCluster) return { eval: (script, call) => single.eval(script, call), nodeUrls: [], destroy: () => destroy(single) }
  destroy(single)

  const { protocol, username, password } = new URL(url)
  const cluster = createCluster({
    ...oneClass,
    rootNodes: [{ url }],
    // The nodes are found by host and port, and have the other parts of the address from here.
    defaults: {
      ...common,
      ...(username === '' ? {} : { username: decodeURIComponent(username) }),
      ...(password === '' ? {} : { password: decodeURIComponent(password) }),
      socket: { ...common.socket, ...(protocol === 'rediss:' ? { tls: true as const } : {}) },
    },
  })
  cluster.on('error', onLost)
  cluster.on('node-error', onLost)
  cluster.on('node-disconnect', ({ host, port }: { host: string; port: number }) =>
    onLost(new Error(`the connection to the node ${host}:${port} was closed`)),
  )
  try {
    await within(cluster.connect(), connectMs)
  } catch (error) {
    destroy(cluster)
    throw error
  }
  const nodeUrls = [...cluster.masters, ...cluster.replicas].map(({ host, port }) => {
    const node = new URL(url)
    node.host = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
    return node.href
  })
  return { eval: (script, call) => cluster.eval(script, call), nodeUrls, destroy: () => destroy(cluster) }
}

/** A user that may not ask is one of a single Redis: in a cluster it also needs CLUSTER SLOTS. */
async function belongsToCluster(client: { info(section: string): Promise<unknown> }): Promise<boolean> {
  const info = await client.info('cluster').catch(() => '')
  return /^cluster_enabled:1/m.test(String(info))
}

function destroy(client: { destroy(): void }): void {
  try {
    client.destroy()
  } catch {
    // It is closed already.
  }
}

/** Rejects if the promise takes longer. */
export function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`no answer in ${ms} ms`)), ms)
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer))
}

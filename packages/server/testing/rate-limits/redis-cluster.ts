import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@redis/client'
import { freePort } from '../../../../tests/support/atrium-process.ts'
import { startRedis } from '../../../../tests/support/redis-process.ts'

const slots = 16_384

export interface RedisCluster {
  /** One for each node. */
  urls: string[]
  /** How many keys each node holds. */
  keysPerNode(): Promise<number[]>
  kill(node: number): Promise<void>
  restart(node: number): Promise<void>
  close(): Promise<void>
}

/**
 * Without `busPort`, its nodes would talk at a port that is 10,000 above the other, which another program may have: such a
 * node accepts a connection and ends.
 */
async function startNode(file: string, port?: number, busPort?: number) {
  for (let tries = 1; ; tries++) {
    const bus = busPort ?? (await freePort())
    const shape = ['--cluster-enabled', 'yes', '--cluster-config-file', file, '--cluster-port', String(bus)]
    const node = await startRedis(port, [...shape, '--cluster-node-timeout', '1000'])
    try {
      await askOnce(node.url, ['PING'])
      return { ...node, busPort: bus }
    } catch (error) {
      await node.kill()
      if (tries === 3) throw error
    }
  }
}

/** Rejects if the node does not answer. */
async function askOnce(url: string, command: string[]): Promise<unknown> {
  const client = createClient({ url, socket: { reconnectStrategy: false, connectTimeout: 5_000 } })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await client.sendCommand(command)
  } finally {
    client.destroy()
  }
}

/** Starts a Redis Cluster of three nodes without replicas, which stores nothing but its own shape, in `folder`. */
export async function startRedisCluster(folder: string): Promise<RedisCluster> {
  const start = (node: number, port?: number, busPort?: number) => startNode(`${folder}/node-${node}.conf`, port, busPort)
  const nodes = [await start(0), await start(1), await start(2)]
  const ask = (node: number, ...command: string[]) => askOnce(nodes[node]!.url, command)
  const untilOk = async () => {
    for (let waitedMs = 0; ; waitedMs += 50) {
      const states = await Promise.all(nodes.map((_, node) => ask(node, 'CLUSTER', 'INFO').catch(() => '')))
      if (states.every((state) => String(state).includes('cluster_state:ok'))) return
      if (waitedMs > 20_000) throw new Error('the cluster does not form')
      await delay(50)
    }
  }
  for (const node of nodes.keys()) {
    const [from, to] = [node, node + 1].map((part) => Math.floor((part * slots) / nodes.length))
    await ask(node, 'CLUSTER', 'ADDSLOTSRANGE', String(from), String(to! - 1))
    if (node > 0) await ask(node, 'CLUSTER', 'MEET', '127.0.0.1', String(nodes[0]!.port), String(nodes[0]!.busPort))
  }
  await untilOk()
  return {
    urls: nodes.map(({ url }) => url),
    keysPerNode: () => Promise.all(nodes.map(async (_, node) => Number(await ask(node, 'DBSIZE')))),
    kill: (node) => nodes[node]!.kill(),
    restart: async (node) => {
      const { port, busPort } = nodes[node]!
      nodes[node] = await start(node, port, busPort)
      await untilOk()
    },
    close: async () => {
      await Promise.all(nodes.map((node) => node.kill()))
    },
  }
}

import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@redis/client'
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

/** Starts a Redis Cluster of three nodes without replicas, which stores nothing but its own shape, in `folder`. */
export async function startRedisCluster(folder: string): Promise<RedisCluster> {
  const start = (node: number, port?: number) =>
    startRedis(port, [
      '--cluster-enabled',
      'yes',
      '--cluster-config-file',
      `${folder}/node-${node}.conf`,
      '--cluster-node-timeout',
      '1000',
    ])
  const nodes = [await start(0), await start(1), await start(2)]
  const ask = async (node: number, ...command: string[]): Promise<unknown> => {
    const client = createClient({ url: nodes[node]!.url })
    client.on('error', () => undefined)
    await client.connect()
    try {
      return await client.sendCommand(command)
    } finally {
      client.destroy()
    }
  }
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
    if (node > 0) await ask(node, 'CLUSTER', 'MEET', '127.0.0.1', String(nodes[0]!.port))
  }
  await untilOk()
  return {
    urls: nodes.map(({ url }) => url),
    keysPerNode: () => Promise.all(nodes.map(async (_, node) => Number(await ask(node, 'DBSIZE')))),
    kill: (node) => nodes[node]!.kill(),
    restart: async (node) => {
      nodes[node] = await start(node, nodes[node]!.port)
      await untilOk()
    },
    close: async () => {
      await Promise.all(nodes.map((node) => node.kill()))
    },
  }
}

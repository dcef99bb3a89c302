import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { freePort } from './atrium-process.ts'
import { skipWithout } from './skip-without.ts'

/** The reason why tests with a Redis cannot run here, or false if they can. For `test(..., { skip })`. */
export const skipWithoutRedis = skipWithout('redis-server')

export interface RedisProcess {
  url: string
  pid: number
  kill(): Promise<void>
}

/** Starts a Redis that stores nothing on disk. Pass the port to restart it at the same place. */
export async function startRedis(port?: number, more: string[] = []): Promise<RedisProcess & { port: number }> {
  const chosen = port ?? (await freePort())
  const args = ['--port', String(chosen), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--daemonize', 'no']
  const child = spawn('redis-server', [...args, ...more], { stdio: 'ignore' })
  await waitUntilListening(child, chosen)
  return {
    url: `redis://127.0.0.1:${chosen}`,
    port: chosen,
    pid: child.pid!,
    kill: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

async function waitUntilListening(child: ChildProcess, port: number): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`)
    const answers = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).once('error', () => resolve(false))
      socket.unref()
      setTimeout(() => socket.destroy(), 100).unref()
    })
    if (answers) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error('redis-server did not start')
}

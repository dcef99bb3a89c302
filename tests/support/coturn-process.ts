import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { skipWithout } from './skip-without.ts'

/** The reason why tests with a relay cannot run here, or false if they can. For `test(..., { skip })`. */
export const skipWithoutCoturn = skipWithout('turnserver', 'turnutils_uclient')

export interface CoturnProcess {
  pid: number
  /** All that it printed so far. */
  output(): string
  end(): Promise<void>
}

/** Starts coturn with this configuration, which names the port, and waits until it answers over UDP on 127.0.0.1. */
export async function startCoturn(lines: string[]): Promise<CoturnProcess> {
  const port = Number(lines.find((line) => line.startsWith('listening-port='))?.split('=')[1])
  const folder = await mkdtemp(join(tmpdir(), 'atrium-coturn-'))
  const config = join(folder, 'turnserver.conf')
  await writeFile(config, lines.join('\n'))
  const own = ['--log-file', 'stdout', '--simple-log', '--pidfile', join(folder, 'pid'), '--userdb', join(folder, 'turndb')]
  const child = spawn('turnserver', ['-c', config, '--verbose', ...own], { stdio: ['ignore', 'pipe', 'pipe'], cwd: folder })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const end = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 })
  }
  try {
    await waitUntilAnswering(child, port)
  } catch (error) {
    await end()
    throw new Error(`${(error as Error).message}:\n${output}`, { cause: error })
  }
  return { pid: child.pid!, output: () => output, end }
}

/** A port that is free for UDP and TCP on 127.0.0.1. */
export async function freeRelayPort(): Promise<number> {
  for (;;) {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const socket = createSocket('udp4')
    const free = await new Promise<boolean>((resolve) =>
      socket.once('error', () => resolve(false)).bind(port, '127.0.0.1', () => resolve(true)),
    )
    socket.close()
    server.close()
    await once(server, 'close')
    if (free) return port
  }
}

async function waitUntilAnswering(child: ChildProcess, port: number): Promise<void> {
  const socket = createSocket('udp4')
  try {
    for (const deadline = Date.now() + 15_000; Date.now() < deadline;) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`turnserver ended with ${child.exitCode}`)
      if (await answersBinding(socket, port)) return
    }
    throw new Error('turnserver did not start')
  } finally {
    socket.close()
  }
}

/** Sends a STUN Binding request (RFC 8489) and waits briefly for its answer. */
async function answersBinding(socket: Socket, port: number): Promise<boolean> {
  const request = Buffer.concat([Buffer.from('000100002112a442', 'hex'), randomBytes(12)])
  return new Promise((resolve) => {
    const done = (answered: boolean) => {
      clearTimeout(timer)
      socket.removeAllListeners()
      resolve(answered)
    }
    const timer = setTimeout(done, 50, false)
    socket.once('message', (answer) => done(answer.readUInt16BE(0) === 0x0101))
    socket.once('error', () => done(false))
    socket.send(request, port, '127.0.0.1')
  })
}

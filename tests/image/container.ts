import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Host } from './network.ts'

const script = fileURLToPath(new URL('run-container.sh', import.meta.url))

/** What `buildah inspect` calls OCIv1.config. */
export interface ImageConfig {
  User: string
  Env: string[]
  Entrypoint: string[]
  WorkingDir: string
  StopSignal: NodeJS.Signals
}

/** A mounted image. */
export interface Image {
  root: string
  config: ImageConfig
}

export interface ContainerOptions {
  /** After the entrypoint, such as ['api']. */
  args: string[]
  env: Readonly<Record<string, string>>
  /** SOURCE:TARGET[:ro], or tmpfs=OPTIONS:TARGET */
  volumes: readonly string[]
  /** In place of the image's. */
  entrypoint?: readonly string[]
  /** In place of the network of this machine. */
  host?: Host
  /** In place of `strict`. */
  rights?: Rights
  /**
   * A path for a pipe that takes the output. Programs that open /dev/stdout need one, as an engine has it: Node's own are
   * sockets, which cannot be opened again.
   */
  pipe?: string
}

interface Rights {
  readOnlyRoot: boolean
  noNewPrivileges: boolean
  dropCapabilities: boolean
  /** In place of the image's. */
  user?: string
  /** Groups beside that of the user. */
  groups?: readonly number[]
}

const strict: Rights = { readOnlyRoot: true, noNewPrivileges: true, dropCapabilities: true }

export interface Container {
  /** All that it printed so far. */
  output(): string
  hasEnded(): boolean
  /** Its exit code, once it has ended; after SIGKILL, that of unshare. */
  ended(): Promise<number>
  /** As `podman stop`, or with SIGKILL as `podman kill`: to process 1. Returns the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number>
  /** As `podman exec`: a command in it, with its user and environment. */
  exec(...command: string[]): Promise<{ code: number; output: string }>
}

/** Runs the image with what its configuration says. */
export function startContainer({ root, config }: Image, options: ContainerOptions): Container {
  const { args, env, volumes, entrypoint = config.Entrypoint, host, rights = strict, pipe } = options
  const own = Object.fromEntries(config.Env.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]))
  const environment = Object.entries({ ...own, ...env }).map(([name, value]) => `${name}=${value}`)
  const inside = [...privilegesOf(rights, config.User), '--', 'env', `--chdir=${config.WorkingDir || '/'}`, '-i', ...environment]
  const network = host ? ['nsenter', `--net=/proc/${host.pid}/ns/net`] : []
  const mounts = [...(host ? [`${host.hostsFile}:/etc/hosts`] : []), ...volumes]
  const unshare = ['unshare', '--mount', '--pid', '--fork', '--kill-child', script, root, String(rights.readOnlyRoot), ...mounts]
  const [program = '', ...rest] = [...network, ...unshare, '--', ...inside, ...entrypoint, ...args]
  const { child, streams } = pipe === undefined ? spawnWithSockets(program, rest) : spawnWithPipe(program, rest, pipe)
  let output = ''
  for (const stream of streams) stream.on('data', (chunk) => (output += chunk))
  const closed = new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 128))
  })
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  return {
    output: () => output,
    hasEnded,
    ended: () => closed,
    stop: async (signal = config.StopSignal) => {
      if (!hasEnded()) process.kill(await firstProcessOf(child), signal)
      return closed
    },
    exec: async (...command) => {
      const target = ['--target', String(await firstProcessOf(child)), '--mount', '--pid', '--net', '--root', '--wd']
      return outputOf('nsenter', [...target, 'setpriv', ...inside, ...command])
    },
  }
}

function spawnWithSockets(program: string, args: readonly string[]) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  return { child, streams: [child.stdout, child.stderr] }
}

function spawnWithPipe(program: string, args: readonly string[], pipe: string) {
  execFileSync('mkfifo', ['--mode=666', pipe])
  const reader = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'ignore'] })
  // Waits for the reader.
  const end = openSync(pipe, 'w')
  const child = spawn(program, args, { stdio: ['ignore', end, end] })
  closeSync(end)
  return { child, streams: [reader.stdout] }
}

function privilegesOf({ user: given, groups = [], ...rights }: Rights, user: string): string[] {
  const [owner = '0', group = owner] = (given ?? (user || '0')).split(':')
  return [
    `--reuid=${owner}`,
    `--regid=${group}`,
    groups.length > 0 ? `--groups=${groups.join(',')}` : '--clear-groups',
    ...(rights.noNewPrivileges ? ['--no-new-privs'] : []),
    ...(rights.dropCapabilities ? ['--bounding-set=-all'] : []),
  ]
}

/** Runs the program until it ends, whatever its exit code. */
export function outputOf(program: string, args: readonly string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? 128, output }))
  })
}

/** The process that is number 1 in the container. */
async function firstProcessOf(child: ChildProcess): Promise<number> {
  for (const deadline = Date.now() + 5_000; Date.now() < deadline; await delay(10)) {
    const pid = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ')[0])
    if (pid > 0) return pid
  }
  throw new Error('the container has no process')
}

/** Waits until there is a good answer. Returns how long that took, in milliseconds. */
export async function untilAnswers(url: string, said: () => string, withinMs = 90_000): Promise<number> {
  const began = performance.now()
  const isUp = () =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
  for (; !(await isUp()); await delay(50))
    assert.ok(performance.now() - began < withinMs, `${url} answers:\n${said().slice(-6_000)}`)
  return performance.now() - began
}

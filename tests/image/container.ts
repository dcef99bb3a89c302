import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

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
  /** SOURCE:TARGET[:ro] */
  volumes: readonly string[]
  /** In place of the image's. */
  entrypoint?: string[]
}

export interface Container {
  /** All that it printed so far. */
  output(): string
  hasEnded(): boolean
  /** Its exit code, once it has ended; after SIGKILL, that of unshare. */
  ended(): Promise<number>
  /** As `podman stop`, or with SIGKILL as `podman kill`: to process 1. Returns the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number>
}

/** Runs the image with what its configuration says, and with a root file system that nobody can write to. */
export function startContainer({ root, config }: Image, options: ContainerOptions): Container {
  const { args, env, volumes, entrypoint = config.Entrypoint } = options
  const own = Object.fromEntries(config.Env.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]))
  const inside = Object.entries({ ...own, ...env }).map(([name, value]) => `${name}=${value}`)
  const command = ['-i', ...inside, ...entrypoint, ...args]
  const unshare = ['--mount', '--pid', '--fork', '--kill-child', script, root, ...volumes, '--', config.User, config.WorkingDir]
  const child = spawn('unshare', [...unshare, ...command], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
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
  }
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

import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type Deadline, DeadlinePassed } from './deadline.ts'
import type { Program } from './run-program.ts'

/** Runs a command with access to one folder, read access to the programs of the machine, and no network. */
export interface Sandbox {
  readonly name: string
  /** `folder` is mounted as /source. */
  program(command: string, folder: string): Program
  close(): Promise<void>
}

const run = promisify(execFile)
const PROBE_MS = 60_000
/** A container is removed also after the deadline, so that has a limit of its own. */
const REMOVAL_MS = 15_000

/** Folders of programs and libraries, without home folders, settings and sockets. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/nix/store', '/etc/ld.so.cache', '/etc/alternatives']

/**
 * Each rejects if it is not installed or cannot make namespaces. Containers use the programs of the machine; no image
 * is fetched.
 */
export const sandboxes = {
  bubblewrap: openBubblewrap,
  podman: (signal: AbortSignal) => openContainer('podman', signal),
  docker: (signal: AbortSignal) => openContainer('docker', signal),
} as const

/** The first sandbox that works on this machine. Throws DeadlinePassed: without a sandbox, the build would run unconfined. */
export async function findSandbox(deadline: Deadline): Promise<Sandbox | undefined> {
  if (process.platform !== 'linux') return undefined
  for (const open of Object.values(sandboxes)) {
    const sandbox = await open(deadline.signal).catch(() => undefined)
    if (sandbox) return sandbox
    if (deadline.signal.aborted) throw new DeadlinePassed()
  }
  return undefined
}

/** PATH inside the sandbox: the programs of the source's packages first, as npm sets it. */
function pathInside(): string {
  return ['/source/node_modules/.bin', dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':')
}

/** The read-only mounts: the system, and this Node if it is elsewhere. */
function readable(): string[] {
  const node = realpathSync(process.execPath)
  return [...SYSTEM, ...new Set([process.execPath, node])].filter((path) => existsSync(path))
}

const BUBBLEWRAP = words(
  '--unshare-all --die-with-parent --new-session --cap-drop ALL --hostname verify --proc /proc --dev /dev --tmpfs /tmp --clearenv',
)

async function openBubblewrap(signal: AbortSignal): Promise<Sandbox> {
  const sandbox: Sandbox = {
    name: 'bubblewrap',
    program: (command, folder) => ({
      file: 'bwrap',
      args: [
        ...BUBBLEWRAP,
        ...readable().flatMap((path) => ['--ro-bind', path, path]),
        ...words('--chdir /source --setenv HOME /tmp --setenv PATH'),
        pathInside(),
        '--bind',
        folder,
        '/source',
        'sh',
        '-c',
        command,
      ],
      folder,
      env: { PATH: process.env['PATH'] ?? '' },
    }),
    close: async () => undefined,
  }
  await probe(sandbox, signal)
  return sandbox
}

const CONTAINER = words(
  'run --rm --network none --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges --security-opt label=disable ' +
    '--workdir /source --env HOME=/tmp',
)

async function openContainer(engine: 'docker' | 'podman', signal: AbortSignal): Promise<Sandbox> {
  const image = await importEmptyImage(engine, signal)
  const name = `atrium-verify-${randomBytes(8).toString('hex')}`
  const remove = async () => {
    for (const args of [
      ['kill', name],
      ['rm', '--force', name],
      ['rmi', '--force', image],
    ]) {
      const options = { timeout: REMOVAL_MS, killSignal: 'SIGKILL', env: containerEnvironment() } as const
      const hangs = await run(engine, args, options).then(
        () => false,
        (error: { killed?: boolean }) => error.killed === true, // otherwise it is already removed
      )
      if (hangs) return
    }
  }
  // Docker's root is the machine's root, and the caller must be able to remove the files. Podman's root is the caller.
  const user = engine === 'docker' ? [`--user=${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`] : []
  const sandbox: Sandbox = {
    name: engine,
    program: (command, folder) => ({
      file: engine,
      args: [
        ...CONTAINER,
        ...user,
        `--name=${name}`,
        `--env=PATH=${pathInside()}`,
        ...readable().map((path) => `--volume=${path}:${path}:ro`),
        `--volume=${folder}:/source`,
        image,
        '/bin/sh',
        '-c',
        command,
      ],
      folder,
      env: containerEnvironment(),
    }),
    close: remove,
  }
  try {
    await probe(sandbox, signal)
    return sandbox
  } catch (error) {
    await remove()
    throw error
  }
}

/**
 * Imports an empty image (two blocks of zeros are a tar without entries), into which the folders of the machine are
 * mounted.
 */
async function importEmptyImage(engine: string, signal: AbortSignal): Promise<string> {
  const importing = run(engine, ['import', '-'], { ...limits(signal), env: containerEnvironment() })
  // An engine that fails before it reads closes its end, and then fails with an error of its own.
  importing.child.stdin?.on('error', () => undefined).end(Buffer.alloc(1_024))
  const image = (await importing).stdout.trim().split('\n').at(-1) ?? ''
  if (!/^(?:sha256:)?[0-9a-f]{64}$/.test(image)) throw new Error(`${engine} made no image`)
  return image
}

/** The environment of the engine, which is trusted and needs its settings. The command inside does not get them. */
function containerEnvironment(): Record<string, string> {
  const wanted = /^(?:PATH|HOME|XDG_[A-Z_]+|DOCKER_[A-Z_]+|CONTAINERS?_[A-Z_]+|STORAGE_[A-Z_]+)$/
  return Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => wanted.test(entry[0])))
}

/** Checks that Node runs in the sandbox and can write to the folder, because the build would fail otherwise. */
async function probe(sandbox: Sandbox, signal: AbortSignal): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-sandbox-'))
  try {
    const { file, args, env } = sandbox.program('node --version > probe', folder)
    await run(file, args, { cwd: folder, env, ...limits(signal) })
    if (!(await readFile(join(folder, 'probe'), 'utf8')).startsWith('v')) throw new Error('Node does not run in the sandbox')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A program that hangs may also ignore SIGTERM. */
const limits = (signal: AbortSignal) => ({ timeout: PROBE_MS, killSignal: 'SIGKILL' as const, signal })

function words(text: string): string[] {
  return text.split(' ')
}

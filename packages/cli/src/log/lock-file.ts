import { createHash, randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdtemp, readdir, rename, rm, symlink } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { OperatorError } from '../operator-api.ts'

/**
 * Locks a file, which need not exist, until this process ends. Throws an OperatorError if another process has locked it.
 *
 * Each process listens on a Unix socket of its own in the folder of the file, and then tries the sockets of the others.
 * The kernel closes a socket with its process, so a lock does not outlive SIGKILL, and it holds between containers that
 * share a volume, in which the same process id may be two processes. Each is visible before it tries the others: of two
 * that start at once, both may refuse, but not both continue. A file system of several machines is not covered.
 */
export async function lockFile(path: string): Promise<void> {
  const folder = dirname(resolve(path))
  const prefix = `.lock-${createHash('sha256').update(basename(path)).digest('hex').slice(0, 8)}-`
  const own = `${prefix}${randomBytes(8).toString('hex')}`
  try {
    await listenOn(folder, own)
  } catch (error) {
    throw new OperatorError(
      `${folder} cannot be locked (${codeOf(error)}): it must be a folder of this machine that can be written`,
    )
  }
  process.once('exit', () => rmSync(join(folder, own), { force: true }))
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix) || name === own) continue
    if (await isListenedOn(folder, name)) throw new OperatorError(`${path} is in use by another process of atrium`)
    await rm(join(folder, name), { force: true })
  }
}

async function listenOn(folder: string, name: string): Promise<void> {
  const server = createServer((socket) => socket.destroy())
  // Under its name, a socket is always listened on or left behind. Between bind and listen, it would look left behind.
  const unnamed = `.new-${name.slice(-16)}`
  await withShortPath(folder, async (short) => {
    await new Promise<void>((onListening, onError) => {
      server.once('error', onError)
      server.listen(join(short, unnamed), onListening)
    })
  })
  server.unref()
  await rename(join(folder, unnamed), join(folder, name))
}

function isListenedOn(folder: string, name: string): Promise<boolean> {
  return withShortPath(folder, async (short) => {
    const code = await new Promise<string | undefined>((onEnd) => {
      const socket = connect(join(short, name), () => {
        socket.destroy()
        onEnd(undefined)
      })
      socket.once('error', (error) => onEnd(codeOf(error)))
    })
    // With any other error, such as that of a socket of another user, the process may be running.
    return code !== 'ECONNREFUSED' && code !== 'ENOENT'
  })
}

/** The path of a socket has at most 107 bytes, on macOS 103. Gives the folder, or a link to it if its path is long. */
async function withShortPath<T>(folder: string, use: (short: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(folder) <= 60) return use(folder)
  const links = await mkdtemp(join(tmpdir(), 'atrium-'))
  try {
    const short = join(links, 'folder')
    await symlink(folder, short)
    return await use(short)
  } finally {
    await rm(links, { recursive: true })
  }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code

import { createHash, randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { lstat, mkdtemp, readdir, rename, rm, symlink } from 'node:fs/promises'
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
  const id = randomBytes(8).toString('hex')
  const own = `${prefix}${id}`
  const unnamed = `.new-${id}`
  process.once('exit', () => [own, unnamed].forEach((name) => removeIfPossible(join(folder, name))))
  try {
    await listenOn(folder, own, unnamed)
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new OperatorError(
      `${folder} cannot be locked (${codeOf(error)}): it must be a folder of this machine that can be written`,
    )
  }
  for (const name of await readdir(folder)) {
    if (isUnnamed.test(name) && name !== unnamed) await removeIfOld(join(folder, name))
    if (!name.startsWith(prefix) || name === own) continue
    const code = await connectTo(folder, name)
    if (code === undefined) throw new OperatorError(`${path} is in use by another process of atrium`)
    // Such as EACCES, of a socket of another user: the process may be running.
    if (code !== 'ECONNREFUSED' && code !== 'ENOENT')
      throw new OperatorError(
        `${path} may be in use by another process of atrium (${code}): if none runs, remove ${join(folder, name)}`,
      )
    await rm(join(folder, name), { force: true })
  }
}

const isUnnamed = /^\.new-[0-9a-f]{16}$/
const oldMs = 60_000

/** A process has its unnamed socket for a moment. One that is old is of a process that was killed then. */
async function removeIfOld(path: string): Promise<void> {
  const stat = await lstat(path).catch(() => undefined)
  if (stat?.isSocket() && Date.now() - stat.mtimeMs > oldMs) removeIfPossible(path)
}

/** A socket that stays, such as that of another user, does no harm. */
function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {}
}

async function listenOn(folder: string, name: string, unnamed: string): Promise<void> {
  const server = createServer((socket) => socket.destroy())
  // Under its name, a socket is always listened on or left behind. Between bind and listen, it would look left behind.
  await withShortPath(folder, async (short) => {
    await new Promise<void>((onListening, onError) => {
      server.once('error', onError)
      server.listen(join(short, unnamed), onListening)
    })
  })
  server.unref()
  await rename(join(folder, unnamed), join(folder, name))
}

/** Resolves to the code of the error; undefined: a process listens. */
function connectTo(folder: string, name: string): Promise<string | undefined> {
  return withShortPath(
    folder,
    (short) =>
      new Promise<string | undefined>((onEnd) => {
        const socket = connect(join(short, name), () => {
          socket.destroy()
          onEnd(undefined)
        })
        socket.once('error', (error) => onEnd(codeOf(error) ?? 'unknown error'))
      }),
  )
}

/** The path of a socket has at most 107 bytes, on macOS 103. Gives the folder, or a link to it if its path is long. */
async function withShortPath<T>(folder: string, use: (short: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(folder) <= 60) return use(folder)
  const links = await mkdtemp(join(tmpdir(), 'atrium-')).catch((error: unknown) => {
    throw new OperatorError(`${tmpdir()} cannot be written (${codeOf(error)}): the lock of ${folder} needs a link there`)
  })
  try {
    const short = join(links, 'folder')
    await symlink(folder, short)
    return await use(short)
  } finally {
    await rm(links, { recursive: true })
  }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code

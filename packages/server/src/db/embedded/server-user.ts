import { chmodSync, lchownSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { StartError } from '#errors/start-error.ts'

/** The account PostgreSQL runs as when we are root, which it refuses to run as. */
export type ServerUser = { name: string; uid: number; gid: number }

/** Undefined when we are not root: PostgreSQL then runs as whoever we are. */
export function findServerUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  for (const wanted of ['postgres', 'nobody']) {
    const [name, , uid, gid] = accounts.find(([name]) => name === wanted) ?? []
    if (name && Number(uid) > 0) return { name, uid: Number(uid), gid: Number(gid) }
  }
  throw new StartError(
    'PostgreSQL does not run as root and there is no user postgres or nobody: start atrium as an ordinary user',
  )
}

/** Reads the mode bits, since only the user itself could try; an access list that grants more is not seen. */
export function canEnter(user: ServerUser, folder: string): boolean {
  const real = realpathSync(folder)
  const steps = real.split(path.sep).map((_, index, names) => names.slice(0, index + 1).join(path.sep) || path.sep)
  return steps.every((step) => {
    const { uid, gid, mode } = statSync(step)
    const execute = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001
    return (mode & execute) !== 0
  })
}

/** Makes a folder and those above it. Under root others may pass through them, not list them: the server user has to. */
export function makeFolder(folder: string, user: ServerUser | undefined): void {
  const mode = user ? 0o711 : 0o700
  const first = mkdirSync(folder, { recursive: true, mode })
  // Again without the umask, on each that was made.
  for (let made = folder; first && made.length >= first.length; made = path.dirname(made)) chmodSync(made, mode)
}

/** PostgreSQL refuses a folder that another user owns or may open. A restored backup often belongs to root. */
export function giveTo(user: ServerUser, folder: string): void {
  if (statSync(folder).uid !== user.uid) {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      lchownSync(path.join(folder, name), user.uid, user.gid)
    }
    // The folder itself last: if this is cut short, the next start sees the old owner and does it again.
    lchownSync(folder, user.uid, user.gid)
  }
  chmodSync(folder, 0o700)
}

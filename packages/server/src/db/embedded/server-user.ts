import { chmodSync, lchownSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { StartError } from '#errors/start-error.ts'

/** The account that PostgreSQL runs as under root, because it does not run as root. */
export type ServerUser = { name: string; uid: number; gid: number }

/** Undefined if this process is not root; then PostgreSQL runs as the same user. */
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

/** Reads the mode bits, because only the user itself could try. An access list that grants more is ignored. */
export function canEnter(user: ServerUser, folder: string): boolean {
  const real = realpathSync(folder)
  const steps = real.split(path.sep).map((_, index, names) => names.slice(0, index + 1).join(path.sep) || path.sep)
  return steps.every((step) => {
    const { uid, gid, mode } = statSync(step)
    const execute = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001
    return (mode & execute) !== 0
  })
}

/**
 * Makes a folder and its parents. Under root, other users may enter but not list them, because PostgreSQL's user must.
 */
export function makeFolder(folder: string, user: ServerUser | undefined): void {
  const mode = user ? 0o711 : 0o700
  const first = mkdirSync(folder, { recursive: true, mode })
  // mkdir applies the umask, so the mode is set again on each new folder.
  for (let made = folder; first && made.length >= first.length; made = path.dirname(made)) chmodSync(made, mode)
}

/** PostgreSQL refuses a folder that another user owns or may open. A restored backup often belongs to root. */
export function giveTo(user: ServerUser, folder: string): void {
  if (statSync(folder).uid !== user.uid) {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      lchownSync(path.join(folder, name), user.uid, user.gid)
    }
    // The folder itself last: after an interruption, the next start finds the old owner and repeats this.
    lchownSync(folder, user.uid, user.gid)
  }
  chmodSync(folder, 0o700)
}

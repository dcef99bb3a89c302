import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Programs that tests use and a bare Debian does not have, each with the package that brings it. */
const packages = {
  ceph: 'ceph-common',
  'ceph-mon': 'ceph-mon',
  'ceph-osd': 'ceph-osd',
  chromium: 'chromium',
  'chromium-headless-shell': 'chromium-headless-shell',
  curl: 'curl',
  git: 'git',
  gzip: 'gzip',
  jose: 'jose',
  jq: 'jq',
  openssl: 'openssl',
  radosgw: 'radosgw',
  'radosgw-admin': 'radosgw',
  python3: 'python3',
  'redis-server': 'redis-server',
  setpriv: 'util-linux',
  tar: 'tar',
  turnserver: 'coturn',
  turnutils_uclient: 'coturn',
  uuidgen: 'uuid-runtime',
} as const

export type Program = keyof typeof packages

/** Where the program is, as a shell would find it. */
export function findProgram(program: Program): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean)
  return folders.map((folder) => join(folder, program)).find(isExecutable)
}

/**
 * Why tests that need these programs cannot run here, and the Debian packages to install; false when they can. For `{
 * skip }`.
 */
export function skipWithout(...programs: Program[]): string | false {
  const missing = programs.filter((program) => findProgram(program) === undefined)
  if (missing.length === 0) return false
  const needed = [...new Set(missing.map((program) => packages[program]))]
  return `no ${missing.join(', ')} here: apt-get install ${needed.join(' ')}`
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

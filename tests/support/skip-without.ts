import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Programs that tests use and a bare Debian lacks, each with the package that contains it. */
const packages = {
  buildah: 'buildah',
  caddy: 'caddy',
  ceph: 'ceph-common',
  'ceph-mon': 'ceph-mon',
  'ceph-osd': 'ceph-osd',
  chromium: 'chromium',
  'chromium-headless-shell': 'chromium-headless-shell',
  curl: 'curl',
  debootstrap: 'debootstrap',
  git: 'git',
  go: 'golang-go',
  gzip: 'gzip',
  haproxy: 'haproxy',
  ip: 'iproute2',
  jose: 'jose',
  jq: 'jq',
  kubectl: 'kubernetes-client',
  nginx: 'nginx-light',
  openssl: 'openssl',
  prlimit: 'util-linux',
  prometheus: 'prometheus',
  promtool: 'prometheus',
  pgbackrest: 'pgbackrest',
  pgbouncer: 'pgbouncer',
  radosgw: 'radosgw',
  'radosgw-admin': 'radosgw',
  pg_isready: 'postgresql-client',
  psql: 'postgresql-client',
  python3: 'python3',
  'redis-cli': 'redis-tools',
  'redis-server': 'redis-server',
  setpriv: 'util-linux',
  squid: 'squid',
  'systemd-analyze': 'systemd',
  tar: 'tar',
  top: 'procps',
  turnserver: 'coturn',
  turnutils_uclient: 'coturn',
} as const

export type Program = keyof typeof packages

/** The path of the program, as a shell would find it. */
export function findProgram(program: Program): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean)
  return folders.map((folder) => join(folder, program)).find(isExecutable)
}

/**
 * The reason why tests that need these programs cannot run here, with the Debian packages to install, or false if
 * they can. For `{ skip }`.
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

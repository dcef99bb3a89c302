import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { skipWithout } from './skip-without.ts'

/** Where Debian puts the sources of Go packages. */
const goPath = '/usr/share/gocode'

/** The oracle is golang.org/x/mod/sumdb, a transparency log that shares no code with ours. */
export const skipWithoutGo =
  skipWithout('go') ||
  (existsSync(join(goPath, 'src/golang.org/x/mod/sumdb/tlog'))
    ? false
    : 'no golang.org/x/mod here: apt-get install golang-golang-x-mod-dev')

const run = promisify(execFile)

/** Builds tests/oracles/verify-log.go, and returns a function that runs it. It rejects if the log is not right. */
export async function buildLogOracle(): Promise<(...args: string[]) => Promise<string>> {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-log-oracle-'))
  const program = join(folder, 'verify-log')
  const source = join(import.meta.dirname, '../oracles/verify-log.go')
  const go = { GO111MODULE: 'off', GOPATH: goPath, GOCACHE: join(folder, 'cache'), GOFLAGS: '' }
  await run('go', ['build', '-o', program, source], { env: { ...process.env, ...go } })
  return async (...args) => (await run(program, args, { timeout: 60_000 })).stdout
}

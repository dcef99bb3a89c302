import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'

/**
 * Each call collects garbage all the time while the answer, which never ends, arrives: Node 20 collects signals that
 * still have to abort.
 */
const calls: Record<string, { from: string; run: string; says: RegExp }> = {
  'a download of atrium verify': {
    from: `import { Downloads } from './packages/cli/src/verify/download.ts'
import { Deadline } from './packages/cli/src/verify/deadline.ts'`,
    run: `new Downloads(url, new Deadline(60)).get('/', { maxBytes: 1e6, timeoutMs: 500 })`,
    says: /\/ cannot be fetched: it is not complete after 0\.5 s/,
  },
  'all checks of atrium verify': {
    from: `import { Downloads } from './packages/cli/src/verify/download.ts'
import { Deadline } from './packages/cli/src/verify/deadline.ts'`,
    run: `new Downloads(url, new Deadline(0.5)).get('/', { maxBytes: 1e6, timeoutMs: 60_000 })`,
    says: /DeadlinePassed: \//,
  },
  'a call to a room': {
    from: `import { callSpace } from './packages/room-client/src/call-space.ts'`,
    run: `callSpace({ url }, { op: 'attest', nonce: 'n' }, { timeoutMs: 500 })`,
    says: /SpaceCallError: No answer within 500 ms/,
  },
  'a call to a room that its caller ends': {
    from: `import { callSpace } from './packages/room-client/src/call-space.ts'`,
    run: `callSpace({ url }, { op: 'attest', nonce: 'n' }, { signal: abortedAfter(500) })`,
    says: /AbortError/,
  },
  'a call to an identity provider': {
    from: `import { makeFetchJson } from './packages/room-client/src/fetch-json.ts'`,
    run: `makeFetchJson({ timeoutMs: 500 })(url)`,
    says: /TimeoutError/,
  },
  'a call of the client': {
    from: `import { createClient } from './packages/client/src/create-client.ts'`,
    run: `createClient({ baseUrl: url, timeoutMs: 500, retries: 0 }).getAgent({ agentId: 'agt_1' })`,
    says: /NetworkError: No answer within 500 ms/,
  },
}

const root = fileURLToPath(new URL('..', import.meta.url))
let folder: string
let server: Server
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atrium-limits-'))
  server = createServer((_req, res) => {
    const writing = setInterval(() => res.write(' '), 50)
    res.on('close', () => clearInterval(writing))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
})
after(async () => {
  server.close()
  server.closeAllConnections()
  await rm(folder, { recursive: true })
})

/** Also the Node of the machine, which may be older than this one. */
const nodes = [process.execPath, '/usr/bin/node', '/usr/local/bin/node'].filter((path) => {
  try {
    return Number(/^v(\d+)/.exec(execFileSync(path, ['--version'], { stdio: 'pipe' }).toString())?.[1]) >= 20
  } catch {
    return false
  }
})

for (const [name, { from, run, says }] of Object.entries(calls))
  test(`${name} ends in time, though the answer does not end`, async () => {
    const file = join(folder, `${name.replaceAll(' ', '-')}.mjs`)
    const contents = `${from}
const url = process.argv[2]
const abortedAfter = (ms) => { const stop = new AbortController(); setTimeout(() => stop.abort(), ms); return stop.signal }
setInterval(() => globalThis.gc(), 20)
const late = new Promise((resolve) => setTimeout(resolve, 5_000, 'it does not end'))
console.log(await Promise.race([late, ${run}.then(() => 'it answers', (error) => error.name + ': ' + error.message)]))
process.exit()`
    const stdin = { contents, resolveDir: root, loader: 'js' } as const
    await build({ stdin, outfile: file, bundle: true, platform: 'node', format: 'esm', target: 'node20', tsconfigRaw: '{}' })
    const { port } = server.address() as AddressInfo
    for (const node of nodes) {
      const { stdout } = await promisify(execFile)(node, ['--expose-gc', file, `http://127.0.0.1:${port}`])
      assert.match(stdout, says, node)
    }
  })

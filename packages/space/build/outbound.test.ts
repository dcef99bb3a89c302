import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { bundleService } from './bundle.ts'
import { checkout } from './testing/copy-tree.ts'

const { metafile } = await bundleService(checkout, { gitCommit: 'unknown', app: [] })
const own = Object.keys(metafile.inputs).filter((path) => path.startsWith('packages/'))
const sources = await Promise.all(own.map(async (path) => [path, await readFile(join(checkout, path), 'utf8')] as const))

/** The certificate's egress is true because this holds: the bundle has one way out over HTTP, which keeps to the list, and the database. */
const EGRESS = 'packages/space/src/certificate/egress.ts'
/** Opens the sockets to PostgreSQL, at the address in DATABASE_URL. */
const DATABASE = 'packages/traffic/src/postgres/open-socket.ts'

test('no file of the bundle fetches', () => {
  const fetching = sources.filter(([, text]) =>
    /\bfetch\b\s*[(,;)]|globalThis\.|\b(?:WebSocket|EventSource|XMLHttpRequest)\b/.test(code(text)),
  )
  assert.deepEqual(
    fetching.map(([path]) => path),
    [],
  )
})

test("of Node's modules that can connect or run another program, our files take servers and checks of addresses, and one file connects to the database", () => {
  const connecting =
    /^(?:node:)?(?:https?|http2|net|tls|dgram|dns|dns\/promises|child_process|cluster|worker_threads|inspector|vm|module)$/
  const uses = Object.entries(metafile.inputs)
    .filter(([path]) => path.startsWith('packages/') && path !== DATABASE)
    .flatMap(([path, { imports }]) => imports.filter((i) => connecting.test(i.path)).map((i) => ({ path, module: i.path })))
  for (const { path, module } of uses) {
    const text = code(sources.find(([name]) => name === path)![1])
    const names = [...text.matchAll(/import\s*\{([^}]*)\}\s*from\s*'(node:[a-z0-9_/]+)'/g)]
      .filter(([, , from]) => from === module)
      .flatMap(([, list]) => list!.split(',').map((name) => name.trim()))
      .filter((name) => name && !name.startsWith('type '))
    const harmless = new Set(['createServer', 'Server as NetServer', 'BlockList', 'isIP', 'isIPv4', 'isIPv6'])
    assert.ok(names.length > 0 && names.every((name) => harmless.has(name)), `${path} takes ${names.join(', ')} from ${module}`)
  }
})

test('the modules of Node that no import names are node:http, for the server, and the clients that egress.ts sends requests with', () => {
  const taken = sources.flatMap(([path, text]) =>
    (code(text).match(/.*\b(?:getBuiltinModule|createRequire)\b.*/g) ?? []).map((line) => `${path}: ${line.trim()}`),
  )
  assert.deepEqual(taken.toSorted(), [
    `${EGRESS}: const client = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http')`,
    "packages/space/src/http/space-server.ts: const { createServer } = process.getBuiltinModule('node:http')",
  ])
})

function code(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
}

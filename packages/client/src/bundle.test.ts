import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const maxGzippedBytes = 15_000

/** Every export for a page except blind tokens, which have a separate entry. */
const browserEntries = [
  'create-client',
  'paginate',
  'pull-events',
  'follow-stream',
  'errors',
  'open-room',
  'room-history',
  'device-key',
  'verify-webhook',
]

/** The bundle that a page would load for this code. Fails on Node-only imports. */
async function bundle(code: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    // The app's own.
    external: ['react'],
    write: false,
    logLevel: 'silent',
  })
  return outputFiles[0]!.text
}

test('all of the client in a page is under 15 kB gzipped', async (t) => {
  const code = await bundle(browserEntries.map((name) => `export * from './${name}.ts'`).join('\n'))
  const bytes = gzipSync(code, { level: 9 }).length
  t.diagnostic(`${bytes} bytes gzipped, ${code.length} minified`)
  assert.ok(bytes < maxGzippedBytes, `${bytes}`)
})

test('a page loads only what it uses', async () => {
  const route = '/v1/collections'
  const sealing = 'A256KW'
  assert.ok((await bundle("export { createClient } from '@atrium/client/create-client'")).includes(route))
  assert.ok((await bundle("export { openHistory } from '@atrium/client/room-history'")).includes(sealing))
  const sizes: Record<string, number> = { 'verify-webhook': 2_500, 'open-room': 11_600, paginate: 1_000, 'device-key': 2_000 }
  for (const [name, maxBytes] of Object.entries(sizes)) {
    const code = await bundle(`export * from '@atrium/client/${name}'`)
    assert.ok(!code.includes(route) && !code.includes(sealing), name)
    assert.ok(code.length < maxBytes, `${name}: ${code.length}`)
  }
  assert.ok((await bundle("export { NotFoundError } from '@atrium/client/errors'")).length < 800)
  const unused = "import '@atrium/client/create-client'; import '@atrium/client/errors'; import '@atrium/client/room-history'"
  assert.equal(await bundle(unused), '')
})

test('every entry but the issuer’s runs without Node', async () => {
  const entries = globSync('*.ts', { cwd: import.meta.dirname }).filter((name) => !name.endsWith('.test.ts'))
  assert.ok(entries.length > 15)
  for (const entry of entries) {
    const bundled = bundle(`export * from './${entry}'`)
    if (entry === 'blind-sign.ts') await assert.rejects(bundled, /node:crypto/)
    else assert.doesNotMatch(await bundled, /\b(?:Buffer|process)\b\s*[.([]/, entry)
  }
})

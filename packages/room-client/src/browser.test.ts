import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { build } from 'esbuild'

async function bundle(code: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
  })
  return outputFiles[0]!.text
}

test('every module runs in a browser: nothing of Node', async () => {
  const entries = globSync('*.ts', { cwd: import.meta.dirname }).filter((name) => !name.endsWith('.test.ts'))
  assert.ok(entries.length > 5)
  for (const entry of entries)
    assert.doesNotMatch(await bundle(`export * from './${entry}'`), /\b(?:Buffer|process)\b\s*[.([]/, entry)
  await assert.rejects(bundle("export * from '@atrium/sealing/node-lines'"), /node:crypto/)
})

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { test } from 'node:test'

const entries = [
  'web-lines.ts',
  'web-room-key.ts',
  'records.ts',
  'chain.ts',
  'line.ts',
  'room-secret.ts',
  'proof.ts',
  'client-sealed.ts',
]

/** The code of a file and of all that it imports, without types. */
function readWithImports(file: string, code = new Map<string, string>()): Map<string, string> {
  if (code.has(file)) return code
  assert.match(file, /^[a-z0-9-]+\.ts$/)
  const source = stripTypeScriptTypes(readFileSync(new URL(file, import.meta.url), 'utf8'))
  code.set(file, source)
  for (const [, imported] of source.matchAll(/\bfrom\s*'([^']+)'|\bimport\s*'[^']+'/g)) {
    readWithImports(imported?.replace('./', '') ?? 'import for effect', code)
  }
  return code
}

for (const entry of entries) {
  test(`${entry} runs in a browser: nothing of Node, nothing from outside`, () => {
    const code = readWithImports(entry)
    for (const [file, source] of code) assert.doesNotMatch(source, /\b(?:Buffer|process|require|global)\b\s*[.([]/, file)
  })
}

test('the check detects Node-only APIs', () => {
  assert.throws(() => readWithImports('node-lines.ts'))
})

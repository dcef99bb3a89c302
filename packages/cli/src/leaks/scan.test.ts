import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { findCredentials } from '@atrium/contract/find-credentials'
import { type CredentialKind, credentialPrefixes, makeCredential } from '@atrium/contract/tokens'
import { runAtrium } from '../../../../tests/support/run-atrium.ts'
import { scanPath } from './scan.ts'

const folder = mkdtempSync(join(tmpdir(), 'atrium-leaks-'))
after(() => rmSync(folder, { recursive: true }))

const make = (kind: CredentialKind) => makeCredential(kind, randomBytes)

function makeFolder(name: string, files: Record<string, string | Buffer>): string {
  const path = join(folder, name)
  mkdirSync(path)
  for (const [file, content] of Object.entries(files)) writeFileSync(join(path, file), content)
  return path
}

test('every kind of credential is found with its line, except publishable keys', () => {
  for (const kind of Object.keys(credentialPrefixes) as CredentialKind[]) {
    const credential = make(kind)
    const found = findCredentials(`a=1\n\nkey: "${credential}"\n`)
    const hint = `${credentialPrefixes[kind]}…${credential.slice(-4)}`
    assert.deepEqual(found, kind === 'publishableKey' ? [] : [{ line: 3, kind, hint, credential }])
  }
})

test('a credential with another character, or without its end, is not found', () => {
  const key = make('secretKey')
  const changed = key.slice(0, 10) + (key[10] === 'x' ? 'y' : 'x') + key.slice(11)
  assert.deepEqual(findCredentials(`${changed} ${key.slice(0, -1)} wsk_${'A'.repeat(36)}`), [])
})

test('credentials that touch other text or each other are found', () => {
  const [one, two] = [make('secretKey'), make('coupon')]
  const text = `${one}${two}\nsk_${'0'.repeat(33)}${one}%20${two}x`
  assert.deepEqual(
    findCredentials(text).map(({ line, kind }) => [line, kind]),
    [
      [1, 'secretKey'],
      [1, 'coupon'],
      [2, 'secretKey'],
      [2, 'coupon'],
    ],
  )
})

test('binary and large files are skipped and counted; links and pipes are not opened', async () => {
  const key = make('secretKey')
  const outside = makeFolder('outside', { 'key.txt': key })
  const path = makeFolder('project', { 'binary.bin': Buffer.from(`\0${key}`), 'large.log': key, '.env': `A=1\nKEY=${key}` })
  truncateSync(join(path, 'large.log'), 10 * 1024 * 1024 + 1)
  symlinkSync(outside, join(path, 'folder-link'))
  symlinkSync(join(outside, 'key.txt'), join(path, 'file-link'))
  execFileSync('mkfifo', [join(path, 'pipe')])
  const scan = await scanPath(path)
  const hint = `wsk_…${key.slice(-4)}`
  assert.deepEqual(scan, {
    leaks: [{ path: join(path, '.env'), line: 2, kind: 'secretKey', hint, credential: key }],
    filesRead: 1,
    binaryFiles: 1,
    largeFiles: 1,
    unreadable: [],
  })
})

test('a path that is a link or does not exist is not a clean scan', async () => {
  const path = makeFolder('target', { 'a.txt': 'nothing' })
  symlinkSync(path, join(folder, 'link'))
  assert.equal((await scanPath(join(folder, 'link'))).unreadable[0]?.reason, 'not a file or a folder')
  assert.equal((await scanPath(join(folder, 'missing'))).unreadable[0]?.reason, 'ENOENT')
})

test('the command exits with 1 and prints the place, but neither the credential nor control characters', async () => {
  const [key, inName] = [make('secretKey'), make('secretKey')]
  const path = makeFolder('printed', { [`${inName}a\u001b[2J.txt`]: key })
  const run = runAtrium(['leaks', 'scan', path], {})
  assert.equal(await run.ended(30_000), 1)
  assert.match(run.output(), /a\?\[2J\.txt:1: secret key wsk_….{4}\n/)
  assert.ok(!run.output().includes(key) && !run.output().includes(inName) && !run.output().includes('\u001b'))
})

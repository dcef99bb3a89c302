import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { isReady } from './running-postmaster.ts'

test('the lock file of a killed PostgreSQL with the same process id does not make the next one ready', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'atrium-lock-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const write = (socketFolder: string, status: string) =>
    writeFileSync(path.join(folder, 'postmaster.pid'), `30\n${folder}\n1795449924\n5432\n${socketFolder}\n\n 1 2\n${status}\n`)
  assert.equal(isReady(folder, 30, '/tmp/new'), false, 'there is no lock file')
  write('/tmp/old', 'ready   ')
  assert.equal(isReady(folder, 30, '/tmp/new'), false)
  write('/tmp/new', 'starting')
  assert.equal(isReady(folder, 30, '/tmp/new'), false)
  write('/tmp/new', 'ready   ')
  assert.equal(isReady(folder, 30, '/tmp/new'), true)
  assert.equal(isReady(folder, 31, '/tmp/new'), false)
})

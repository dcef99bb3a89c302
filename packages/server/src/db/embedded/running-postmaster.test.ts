import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { startPostmaster } from './postmaster.ts'
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

test('a PostgreSQL that does not become ready is ended when it is no longer wanted', { timeout: 60_000 }, async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'atrium-unready-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const postgres = path.join(folder, 'postgres')
  writeFileSync(postgres, '#!/bin/sh\nexec sleep 50\n', { mode: 0o755 })
  const stopping = new AbortController()
  const options = { postgres, folder, socketFolder: folder, logFile: path.join(folder, 'log'), user: undefined, settings: {} }
  const started = startPostmaster(options, stopping.signal)
  stopping.abort()
  await assert.rejects(started, /PostgreSQL did not start: it was ended by SIGTERM/)
})

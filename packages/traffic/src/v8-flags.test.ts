import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { flags } from './v8-flags.ts'

test('this Node knows the flags of V8 that a server sets', () => {
  for (const flag of Object.values(flags)) {
    const { status, stderr } = spawnSync(process.execPath, [flag, '--eval', ''], { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
  }
})

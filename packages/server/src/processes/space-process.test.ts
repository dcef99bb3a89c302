import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readConfig } from '#config/config.ts'
import { readEnv } from '#config/env.ts'
import { startSpaceProcess } from './space-process.ts'

test('in the process of the Space service eval and new Function throw', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-space-process-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'program.mjs')
  await writeFile(
    path,
    `const outcomeOf = (make) => { try { return make() } catch (error) { return error.name } }
    const outcomes = [() => new Function('return 1')(), () => (0, eval)('1'), () => Object.constructor('return 1')()].map(outcomeOf)
    process.send({ failed: outcomes.join(' ') })`,
  )
  const started = startSpaceProcess(readConfig(readEnv({})), 'postgresql://unused', path)
  await assert.rejects(started, { message: 'EvalError EvalError EvalError' })
})

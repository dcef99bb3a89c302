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

test('the Space service gets its own addresses, or those of the platform, and never a mix', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-space-process-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'program.mjs')
  const names = ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_POOL_SIZE']
  await writeFile(path, `process.send({ failed: ${JSON.stringify(names)}.map((name) => process.env[name] ?? 'none').join(' ') })`)
  const environmentOf = async (env: Record<string, string>) => {
    const config = readConfig(readEnv({ DATABASE_URL: 'postgresql://pooler', ...env }))
    return startSpaceProcess(config, config.databaseUrl!, path).then(
      () => assert.fail('the program reports its environment as a failure'),
      ({ message }: Error) => message,
    )
  }
  assert.equal(await environmentOf({}), 'postgresql://pooler none 20')
  const direct = { DATABASE_DIRECT_URL: 'postgresql://direct', DATABASE_POOL_SIZE: '50' }
  assert.equal(await environmentOf(direct), 'postgresql://pooler postgresql://direct 20')
  const own = { SPACE_DATABASE_URL: 'postgresql://space', SPACE_DATABASE_POOL_SIZE: '7' }
  assert.equal(await environmentOf({ ...direct, ...own }), 'postgresql://space none 7')
  const ownDirect = { ...own, SPACE_DATABASE_DIRECT_URL: 'postgresql://space-direct' }
  assert.equal(await environmentOf({ ...direct, ...ownDirect }), 'postgresql://space postgresql://space-direct 7')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freePort } from '../support/atrium-process.ts'
import { skipWithoutPostgresPair, startPostgresPair } from '../support/postgres-pair.ts'
import { runAtrium } from '../support/run-atrium.ts'
import { goodSettings } from '../support/start-settings.ts'

test(
  'a start whose address leads to a standby names the variable and what it must lead to',
  { skip: skipWithoutPostgresPair, timeout: 180_000 },
  async (t) => {
    const pair = await startPostgresPair()
    t.after(() => pair.stop())
    const [primary, standby] = [pair.urlOf(pair.primary), pair.urlOf(pair.standby)]
    const run = async (command: string, env: Record<string, string>) => {
      const ports = { PORT: String(await freePort()), SPACE_PORT: String(await freePort()) }
      return runAtrium([command], { ...(await goodSettings(t)), ...ports, ...env })
    }
    // A standby that lacks the migrations is refused for that, because it cannot get them.
    const migrated = await run('migrate', { DATABASE_URL: primary })
    assert.equal(await migrated.ended(60_000), 0, migrated.output())

    const refused: [string, Record<string, string>, string][] = [
      ...['api', 'worker', 'space', 'start'].map((command): [string, Record<string, string>, string] => [
        command,
        { DATABASE_URL: standby },
        'DATABASE_URL',
      ]),
      ['api', { DATABASE_URL: standby, DATABASE_DIRECT_URL: primary }, 'DATABASE_URL'],
      ['api', { DATABASE_URL: primary, DATABASE_DIRECT_URL: standby }, 'DATABASE_DIRECT_URL'],
      ['space', { DATABASE_URL: primary, SPACE_DATABASE_URL: standby }, 'SPACE_DATABASE_URL'],
      ['start', { DATABASE_URL: primary, SPACE_DATABASE_URL: standby }, 'SPACE_DATABASE_URL'],
    ]
    for (const [command, env, variable] of refused) {
      const start = await run(command, env)
      t.after(() => start.kill('SIGKILL'))
      assert.equal(await start.ended(30_000), 1, `${command}: ${start.output()}`)
      const lines = start
        .output()
        .trim()
        .split('\n')
        .filter((line) => !line.startsWith('{'))
      const reason =
        'the database cannot be used: the server is a standby: the address must lead to the primary, which accepts writes'
      assert.deepEqual(lines, [`atrium: ${variable}: ${reason}`], command)
    }
  },
)

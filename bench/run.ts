// The program of `npm run bench`: measures Atrium against baselines in one run on this machine. See README.md.
import { writeFileSync } from 'node:fs'
import { benchAgainst } from './against.ts'
import { describeMachine, machineText } from './machine.ts'
import { measureRounds, warmUp } from './measure.ts'
import { readOptions, type Options } from './options.ts'
import { profileTarget } from './profile.ts'
import { judgeAll, reportJson, tableText, verdictsText } from './report.ts'
import { benchScale } from './scale.ts'
import { withStage } from './stage.ts'
import { UsageError } from './usage-error.ts'
import { connections, wrkVersion } from './wrk.ts'

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())

try {
  const options = readOptions(process.argv.slice(2))
  wrkVersion()
  if (options.profile) console.log(await profileTarget(options.profile, options.seconds, stopping.signal))
  else if (options.scale) {
    const cases = await benchScale({ ...options, signal: stopping.signal })
    if (options.json) writeFileSync(options.json, `${JSON.stringify(cases, null, 2)}\n`)
  } else if (options.against) {
    const comparisons = await benchAgainst({ ...options, tree: options.against, signal: stopping.signal })
    if (options.json) writeFileSync(options.json, `${JSON.stringify(comparisons, null, 2)}\n`)
  } else await bench(options, stopping.signal)
} catch (error) {
  if (stopping.signal.aborted) console.error('bench: stopped')
  else console.error(error instanceof UsageError ? `bench: ${error.message}` : error)
  process.exitCode = 1
}

async function bench({ targets, rounds, seconds, json }: Options, signal: AbortSignal): Promise<void> {
  await withStage({ targets, signal }, async ({ folder, pool, ready }) => {
    const machine = await describeMachine(pool, folder)
    console.log(machineText(machine))
    console.log(
      `${rounds} rounds of ${seconds} s a target, ${connections} connections, wrk with 1 thread; medians of the rounds\n`,
    )
    await warmUp(ready, signal)
    const rows = await measureRounds(ready, rounds, seconds, signal)
    const verdicts = judgeAll(rows)
    console.log(`${tableText(rows)}\n`)
    if (verdicts.length > 0) console.log(verdictsText(verdicts))
    if (json) writeFileSync(json, reportJson(machine, rows, verdicts))
  })
}

import { required } from '@atrium/contract/required'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { readSelfTimes, type SelfTime } from './cpu-profile.ts'
import { measure, warmUp } from './measure.ts'
import { withStage } from './stage.ts'
import type { Target } from './targets.ts'

const shown = 25

/**
 * Runs one target with its server under Node's profiler, and prints where the server spends its time while wrk runs.
 */
export async function profileTarget(target: Target, seconds: number, signal: AbortSignal): Promise<string> {
  const nodeArgs = (folder: string) => ['--cpu-prof', `--cpu-prof-dir=${path.join(folder, 'profile')}`]
  return withStage({ targets: [target], nodeArgs, signal }, async ({ folder, servers, ready }) => {
    await warmUp(ready, signal)
    const fromUs = nowUs()
    const { requests, perSecond } = await measure(required(ready[0], 'the target is ready'), seconds, signal)
    const toUs = nowUs()
    // Its exit writes the profile.
    await servers.get(target.server)?.stop()
    const [file = ''] = readdirSync(path.join(folder, 'profile'))
    const times = readSelfTimes(path.join(folder, 'profile', file), fromUs, toUs)
    return [`${target.name}, ${Math.round(perSecond)} requests/s under the profiler`, ...profileLines(times, requests)].join('\n')
  })
}

function profileLines(times: SelfTime[], requests: number): string[] {
  const busy = times.filter(({ name }) => name !== '(idle)')
  const busyUs = busy.reduce((sum, { selfUs }) => sum + selfUs, 0)
  const allUs = times.reduce((sum, { selfUs }) => sum + selfUs, 0)
  return [
    `busy ${((100 * busyUs) / allUs).toFixed(0)} % of the time, ${(busyUs / requests).toFixed(1)} µs a request`,
    '  self %   µs/request  function',
    ...busy.slice(0, shown).map(({ name, place, selfUs }) => {
      const percent = ((100 * selfUs) / busyUs).toFixed(1).padStart(8)
      return `${percent}${(selfUs / requests).toFixed(2).padStart(13)}  ${name} ${place}`.trimEnd()
    }),
  ]
}

/** V8 stamps its samples with the same clock. */
function nowUs(): number {
  return Number(process.hrtime.bigint() / 1_000n)
}

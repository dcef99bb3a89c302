import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { adminToken } from '../support/atrium-process.ts'
import { call, makeTenant, NoAnswer } from '../support/call-api.ts'
import { plans } from '../support/fuzz-plans.ts'
import { makeStock } from '../support/fuzz-stock.ts'
import { FuzzWorld } from '../support/fuzz-world.ts'
import { mapConcurrently } from '../support/map-concurrently.ts'
import { fetchOperations } from '../support/openapi-operations.ts'
import { noteWrong, type Tally } from './outcome.ts'

const portion = 200
const atOnce = 4

/**
 * Sends generated requests, valid and invalid, until the soak is over. A fault is a wrong answer; 503 with its reason
 * is not one.
 */
export async function runFuzzer(origin: string, tally: Tally, stopped: () => boolean): Promise<number> {
  const operations = await fetchOperations(origin)
  const tenants = await Promise.all([makeTenant(origin, 'Fuzz one'), makeTenant(origin, 'Fuzz two')])
  const arbitrary = plans(operations)
  const seed = Date.now() % 2 ** 31
  let sent = 0
  // A new world for each stretch, so that its memory stays small.
  for (let stretch = 0; !stopped(); stretch++) {
    const stock = await makeStock(origin, tenants).catch(() => undefined)
    if (!stock) {
      await delay(2_000)
      continue
    }
    const world = new FuzzWorld(origin, tenants, stock)
    for (let part = 0; part < 25 && !stopped(); part++) {
      const batch = fc.sample(arbitrary, { seed: seed + stretch * 1_000 + part, numRuns: portion })
      await mapConcurrently(batch, atOnce, async (plan) => {
        if (stopped()) return
        const request = world.resolve(plan, adminToken)
        const { body } = request.plan
        const options = { headers: request.headers, ...(body === undefined ? {} : { body }) }
        const answer = await call(origin, request.route, options).catch((error: unknown) => {
          if (error instanceof NoAnswer) return undefined
          throw error
        })
        sent++
        if (!answer) return
        const fault = answer.status === 503 ? undefined : plan.op.faultIn(answer)
        if (fault)
          noteWrong(tally, `fuzz seed ${seed}: ${fault}: ${request.route} → ${answer.status} ${answer.text.slice(0, 300)}`)
        world.learn(request, answer)
        await delay(20)
      })
    }
  }
  return sent
}

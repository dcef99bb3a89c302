import { parseArgs } from 'node:util'
import { targets, type Target } from './targets.ts'
import { UsageError } from './usage-error.ts'

export interface Options {
  targets: Target[]
  rounds: number
  seconds: number
  /** Where to write the figures as JSON. */
  json: string | undefined
  /** Instead of rounds: profile this one target's server. */
  profile: Target | undefined
  /** Instead of rounds: how the cost of a request changes with processes, the database and tenants. */
  scale: boolean
  /** Instead of the floors: another checkout of Atrium, whose targets are measured in the same rounds. */
  against: string | undefined
}

export function readOptions(args: string[]): Options {
  const { only, rounds, seconds, json, profile, against } = parseValues(args)
  const scale = only === 'scale'
  return {
    targets: scale ? [] : (only?.split(',').map(findTarget) ?? targets),
    scale,
    rounds: positive('--rounds', rounds),
    seconds: positive('--seconds', seconds),
    json,
    profile: profile === undefined ? undefined : findTarget(profile),
    against,
  }
}

function parseValues(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        only: { type: 'string' },
        rounds: { type: 'string', default: '5' },
        seconds: { type: 'string', default: '5' },
        json: { type: 'string' },
        profile: { type: 'string' },
        against: { type: 'string' },
      },
    }).values
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function findTarget(name: string): Target {
  const target = targets.find((target) => target.name === name)
  if (!target) throw new UsageError(`there is no target "${name}"; there are ${targets.map((target) => target.name).join(', ')}`)
  return target
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < 1) throw new UsageError(`${name} must be a whole number from 1, not "${text}"`)
  return value
}

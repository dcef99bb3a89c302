const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** How long is waited after each failed try: ten tries, over 75 hours and a half. */
const waitsMs = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour]

/** How many times an event is tried. */
export const maxTries = waitsMs.length + 1

/**
 * How long to wait after that many tries, give or take a tenth, so that what failed together is not tried together again; undefined: no
 * more. `random` is from 0 to 1.
 */
export function retryAfterMs(tries: number, random = Math.random()): number | undefined {
  const waitMs = waitsMs[tries - 1]
  return waitMs === undefined ? undefined : Math.round(waitMs * (0.9 + 0.2 * random))
}

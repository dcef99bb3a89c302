import { setTimeout as delay } from 'node:timers/promises'

const periodsMs = { hour: 3_600_000, day: 86_400_000 }
/** Much longer than a test takes. */
const marginMs = 60_000

/** For tests of counts by the hour or by the day (UTC): waits for the next hour or day if it begins within a minute. */
export async function clearOf(next: keyof typeof periodsMs): Promise<void> {
  const leftMs = periodsMs[next] - (Date.now() % periodsMs[next])
  // The hour has also begun for the database.
  if (leftMs < marginMs) await delay(leftMs + 200)
}

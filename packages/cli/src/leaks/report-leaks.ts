import { callOperatorBare } from '../operator-api.ts'
import type { Leak } from './scan.ts'

/** Below the limit of a body with the longest paths. */
const batchSize = 100
const maxPlaceLength = 500

/**
 * Reports what was found to the running installation, as its operator. Returns for each whether it is a credential that
 * should not be public. A report may be repeated, so one that fails in the middle is.
 */
export async function reportLeaks(leaks: readonly Leak[]): Promise<boolean[]> {
  const verdicts: boolean[] = []
  for (let from = 0; from < leaks.length; from += batchSize) {
    const body = leaks.slice(from, from + batchSize).map(({ path, line, kind, credential }) => ({
      token: credential,
      type: kind,
      url: `${path.toWellFormed().replaceAll('\0', '').slice(-maxPlaceLength)}:${line}`,
      source: 'atrium leaks scan',
    }))
    const labels = await callOperatorBare<{ label: string }[]>('POST /tenant/keys/leaks', body)
    verdicts.push(...labels.map(({ label }) => label === 'true_positive'))
  }
  return verdicts
}

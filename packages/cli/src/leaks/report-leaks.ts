import { callOperatorBare } from '../operator-api.ts'
import { type Leak, plainPath } from './scan.ts'

/** A body has at most 256 KiB, and each of these takes less than 2.5 KB in it. */
const batchSize = 100
const maxPlaceLength = 300

/**
 * Reports what was found to the running installation, as its operator. Yields each with whether it is a credential that
 * should not be public, batch by batch: what was reported before an error is known. A report may be repeated.
 */
export async function* reportLeaks(leaks: readonly Leak[]): AsyncGenerator<{ leak: Leak; isTrue: boolean }> {
  // The operator's own token may be among them, and is revoked: so it is in the last batch.
  const inOrder = leaks.toSorted((a, b) => Number(a.kind === 'operatorToken') - Number(b.kind === 'operatorToken'))
  for (let from = 0; from < inOrder.length; from += batchSize) {
    const batch = inOrder.slice(from, from + batchSize)
    const body = batch.map(({ path, line, kind, credential }) => ({
      token: credential,
      type: kind,
      url: `${plainPath(path).slice(-maxPlaceLength).toWellFormed()}:${line}`,
      source: 'atrium leaks scan',
    }))
    const labels = await callOperatorBare<{ label: string }[]>('POST /tenant/keys/leaks', body)
    for (const [i, leak] of batch.entries()) yield { leak, isTrue: labels[i]?.label === 'true_positive' }
  }
}

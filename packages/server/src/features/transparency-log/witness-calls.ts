import { createHash } from 'node:crypto'
import { readAtMost } from '@atrium/contract/joined-pieces'
import { formatAddCheckpoint, type AddCheckpoint } from '@atrium/log/add-checkpoint'

/** A witness that does not answer delays nobody for longer. */
const timeoutMs = 3_000
const maxAnswerBytes = 64 * 1024

/** What a witness answered to add-checkpoint (C2SP tlog-witness). */
export type WitnessAnswer =
  | { outcome: 'cosigned'; lines: string }
  /** It has seen this size, not the one that was assumed. */
  | { outcome: 'conflict'; size: number }
  | { outcome: 'refused'; status: number }

/** Throws if the witness cannot be reached. */
export async function askToCosign(witnessUrl: string, request: AddCheckpoint): Promise<WitnessAnswer> {
  const res = await fetch(addressUnder(witnessUrl, 'add-checkpoint'), {
    method: 'POST',
    body: formatAddCheckpoint(request),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  })
  const body = await readText(res)
  if (res.status === 200) return { outcome: 'cosigned', lines: body }
  if (res.status === 409 && /^(?:0|[1-9][0-9]{0,14})\n$/.test(body)) return { outcome: 'conflict', size: Number(body) }
  return { outcome: 'refused', status: res.status }
}

/** What a witness answers when it is asked for the checkpoint that it cosigned last. Throws if it cannot be reached. */
export async function fetchSeen(witnessUrl: string, origin: string): Promise<{ status: number; body: string }> {
  const originHash = createHash('sha256').update(origin).digest('hex')
  const res = await fetch(addressUnder(witnessUrl, `${originHash}/checkpoint`), {
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  })
  return { status: res.status, body: await readText(res) }
}

const addressUnder = (url: string, path: string) => `${url.replace(/\/$/, '')}/${path}`

async function readText(res: Response): Promise<string> {
  const bytes = await readAtMost(res.body, maxAnswerBytes)
  if (bytes === undefined) throw new Error(`${res.url} answers with more than ${maxAnswerBytes} bytes`)
  return bytes.toString()
}

import type { IncomingMessage } from 'node:http'
import { get as getTls } from 'node:https'
import { readAtMost } from '@atrium/contract/joined-pieces'
import { http } from './node-http.ts'

interface Bounds {
  maxBytes: number
  timeoutMs: number
}

/** The answer is longer than the caller reads. */
export class AnswerTooLong extends Error {}

/**
 * Reads what another service of the operator answers, without redirects. Periodic tasks read with it and not with
 * `fetch`, whose library takes 10 MiB of a process that has nothing else to do.
 */
export async function getBytes(url: string, { maxBytes, timeoutMs }: Bounds): Promise<Buffer> {
  const send = url.startsWith('https:') ? getTls : http.get
  const res = await new Promise<IncomingMessage>((resolve, reject) => {
    // Each on a connection of its own: a balancer then leads to each process in turn.
    send(url, { agent: false, signal: AbortSignal.timeout(timeoutMs) }, resolve).on('error', reject)
  })
  if (res.statusCode !== 200) {
    res.destroy()
    throw new Error(`${url} answered ${res.statusCode}`)
  }
  const bytes = await readAtMost(res as AsyncIterable<Uint8Array>, maxBytes)
  if (bytes === undefined) throw new AnswerTooLong(`${url} answered with more than ${maxBytes} bytes`)
  return bytes
}

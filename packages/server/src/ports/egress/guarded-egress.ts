import type { Readable } from 'node:stream'
import { JoinedPieces } from '@atrium/contract/joined-pieces'
import type { Dispatcher } from 'undici'
import { parseUrl } from './check-url.ts'
import { startDeadline } from './deadline.ts'
import { type EgressAnswer, type EgressOptions, type EgressRequest, type OpenedEgress, usualAnswerBytes } from './egress.ts'
import { openGuardedAgent } from './guarded-agent.ts'
import { guardedFetch, type FetchLimits } from './guarded-fetch.ts'
import { asEgressError, openAnswer } from './open-answer.ts'
import { resolveName } from './resolve-name.ts'

const mebibyte = 1024 * 1024

/** Opens the agents of the egress. Loads undici, which takes 11 MiB: see openEgress. */
export function openGuardedEgress({ mode, resolve = resolveName }: EgressOptions): OpenedEgress {
  const usual = openGuardedAgent({ mode, resolve, maxConnectionBytes: 32 * mebibyte })
  const large = openGuardedAgent({ mode, resolve, maxConnectionBytes: 128 * mebibyte })
  const agentFor = (maxBytes: number) => (maxBytes > usualAnswerBytes ? large : usual)
  const fetchWithin = (limits: FetchLimits) => guardedFetch(agentFor(limits.maxAnswerBytes), mode, limits)

  const send = async (request: EgressRequest): Promise<EgressAnswer> => {
    const { method, url, headers = {}, body = null, timeoutMs = 15_000, maxAnswerBytes = 65_536, signal } = request
    const parsed = parseUrl(url, mode)
    const deadline = startDeadline(timeoutMs, signal)
    try {
      const answer = await openAnswer(
        agentFor(maxAnswerBytes),
        { method, url: parsed, headers: Object.entries(headers), body },
        deadline,
      )
      return {
        status: answer.statusCode,
        headers: joinHeaders(answer.headers),
        ...(await readCapped(answer.body, maxAnswerBytes)),
      }
    } catch (error) {
      throw asEgressError(error, deadline)
    } finally {
      deadline.clear()
    }
  }

  return {
    send,
    fetchWithin,
    // Destroyed instead of closed, because running exchanges may last for minutes.
    close: async () => {
      await Promise.all([usual.destroy(), large.destroy()])
    },
  }
}

function joinHeaders(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]))
}

async function readCapped(stream: Readable, maxBytes: number): Promise<{ body: Buffer; truncated: boolean }> {
  const pieces = new JoinedPieces()
  // Leaving the loop destroys the stream, which closes the connection.
  for await (const chunk of stream) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError('an answer is read as bytes')
    const left = maxBytes - pieces.length
    pieces.add(chunk.subarray(0, left))
    if (chunk.length > left) return { body: pieces.take(), truncated: true }
  }
  return { body: pieces.take(), truncated: false }
}

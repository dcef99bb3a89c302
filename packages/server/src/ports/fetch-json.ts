import { readAtMost } from '@atrium/contract/joined-pieces'
import { parseJsonObject, parseStrictJson } from '@atrium/contract/strict-json'

const maxAnswerBytes = 64 * 1024

/**
 * Fetches JSON from an identity provider that the operator configured: without redirects, and bounded in time and size.
 */
export async function fetchJson(url: string, { headers, ...init }: RequestInit = {}): Promise<unknown> {
  const res = await fetch(url, {
    ...init,
    redirect: 'error',
    signal: AbortSignal.timeout(5_000),
    headers: { accept: 'application/json', ...headers },
  })
  const bytes = await readAtMost(res.body, maxAnswerBytes)
  if (bytes === undefined) throw new Error(`${url} answered more than ${maxAnswerBytes} bytes`)
  if (res.status !== 200) throw new Error(`${url} answered ${res.status}${reasonOf(bytes)}`)
  return parseStrictJson(bytes, { anyNumber: true })
}

/** The error code of a token endpoint (RFC 6749, 5.2), such as invalid_client for a client secret that it refuses. */
function reasonOf(bytes: Buffer): string {
  const code = parseJsonObject(bytes)?.['error']
  return typeof code === 'string' && /^\w{1,40}$/.test(code) ? ` ${code}` : ''
}

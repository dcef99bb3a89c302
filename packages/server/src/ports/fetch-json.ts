import { parseStrictJson } from '@atrium/contract/strict-json'

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
  if (res.status !== 200 || !res.body) {
    await res.body?.cancel()
    throw new Error(`${url} answered ${res.status}`)
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of res.body) {
    size += chunk.length
    if (size > maxAnswerBytes) throw new Error(`${url} answered more than ${maxAnswerBytes} bytes`)
    chunks.push(chunk)
  }
  return parseStrictJson(Buffer.concat(chunks), { anyNumber: true })
}

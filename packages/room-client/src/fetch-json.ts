/** Far above any discovery document or key set. */
const maxBytes = 256 * 1024

/** Fetches JSON from an identity provider: no redirects, no cookies, and a limit of size and time. */
export function makeFetchJson({
  fetch = globalThis.fetch,
  timeoutMs = 10_000,
}: {
  fetch?: typeof globalThis.fetch | undefined
  timeoutMs?: number | undefined
}): (url: string) => Promise<unknown> {
  return async (url) => {
    const signal = AbortSignal.timeout(timeoutMs)
    // Not 'error', for the reason in callSpace.
    const res = await fetch(url, { redirect: 'manual', credentials: 'omit', signal })
    if (res.status !== 200 || !res.body) throw new Error(`${new URL(url).origin} answers ${res.status}`)
    const decoder = new TextDecoder()
    let text = ''
    let bytes = 0
    for (const reader = res.body.getReader(); ;) {
      const { done, value } = await reader.read()
      if (done) return JSON.parse(text + decoder.decode())
      if ((bytes += value.length) > maxBytes) {
        await reader.cancel()
        throw new Error('the answer is too long')
      }
      text += decoder.decode(value, { stream: true })
    }
  }
}

import { CheckFailed } from './report.ts'

export interface DownloadLimits {
  readonly maxBytes: number
  readonly timeoutMs: number
}

export interface Downloaded {
  readonly bytes: Buffer
  readonly headers: Headers
}

export const SMALL: DownloadLimits = { maxBytes: 64 * 1024, timeoutMs: 15_000 }
export const PAGE_FILE: DownloadLimits = { maxBytes: 8 * 1024 * 1024, timeoutMs: 30_000 }
export const ARCHIVE: DownloadLimits = { maxBytes: 32 * 1024 * 1024, timeoutMs: 120_000 }
/** 64 MiB of lines, each of whose quotes JSON escapes. */
export const ROOM: DownloadLimits = { maxBytes: 128 * 1024 * 1024, timeoutMs: 300_000 }

/** GETs, or POSTs `body` as JSON. Follows no redirects: what is checked is what stands at the address. */
export async function download(url: string, limits: DownloadLimits, body?: object): Promise<Downloaded> {
  const post = body && { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const signal = AbortSignal.timeout(limits.timeoutMs)
  try {
    const response = await fetch(url, { ...post, redirect: 'manual', signal, credentials: 'omit', cache: 'no-store' })
    if (response.status !== 200) {
      await response.body?.cancel()
      const where = response.status >= 300 && response.status < 400 ? ' (a redirect, which is not followed)' : ''
      throw new CheckFailed(`${new URL(url).pathname} answered ${response.status}${where}`)
    }
    return { bytes: await readCapped(response, limits.maxBytes), headers: response.headers }
  } catch (error) {
    if (error instanceof CheckFailed) throw error
    throw new CheckFailed(`${url} cannot be had: ${reasonOf(error)}`)
  }
}

/** The answer as JSON that is an object; members are to be checked by whoever reads them. */
export async function downloadJson(url: string, limits: DownloadLimits, body?: object): Promise<Record<string, unknown>> {
  const { bytes } = await download(url, limits, body)
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // said below
  }
  throw new CheckFailed(`${new URL(url).pathname} did not answer with a JSON object`)
}

async function readCapped(response: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > maxBytes) throw new CheckFailed(`${new URL(response.url).pathname} answered more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** fetch hides why it failed in the cause. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as Error
  const { code } = (cause ?? {}) as { code?: string }
  return code ?? (cause instanceof Error && cause.message ? cause.message : message)
}

import { toPlainJson } from '../plain-json.ts'

const timeoutMs = 10_000
/** Reports of two looks. More are not kept for a webhook that does not keep up. */
const maxWaiting = 2_000

/**
 * Sends reports to an address, one after the other, without holding up whoever reports. Each is sent once. What was not
 * sent is printed on standard error.
 */
export class Webhook {
  readonly #url: string
  #waiting = 0
  #lastSent: Promise<void> = Promise.resolve()
  #hasEnded = false

  constructor(url: string) {
    this.#url = url
  }

  add(body: object): void {
    if (this.#waiting >= maxWaiting) return printUnsent(`${maxWaiting} reports wait for the webhook`, body)
    this.#waiting++
    this.#lastSent = this.#lastSent.then(async () => {
      if (this.#hasEnded) printUnsent('the webhook was too slow', body)
      else await send(this.#url, body)
      this.#waiting--
    })
  }

  /** Resolves when all reports that were added so far are sent, or printed as not sent. */
  sent(): Promise<void> {
    return this.#lastSent
  }

  /** The same, but what waits after this time is not sent. */
  async end(withinMs: number): Promise<void> {
    const timer = setTimeout(() => (this.#hasEnded = true), withinMs)
    await this.#lastSent
    clearTimeout(timer)
  }
}

async function send(url: string, body: object): Promise<void> {
  try {
    const res = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    })
    await res.body?.cancel()
    if (!res.ok) printUnsent(`the webhook answered ${res.status}`, body)
  } catch (error) {
    printUnsent(`the webhook was not reached: ${error instanceof Error ? error.message : String(error)}`, body)
  }
}

function printUnsent(reason: string, body: object): void {
  console.error(`${reason}; not sent: ${toPlainJson(body)}`)
}

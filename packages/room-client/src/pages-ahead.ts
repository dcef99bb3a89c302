import type { Since } from './follow-room.ts'
import type { AnswerOf } from './space-ops.ts'

interface How {
  readonly limit: number
  readonly signal: AbortSignal | undefined
}

type Page = AnswerOf<'read'>

/** Reads pages of lines. Of a long room, the next one is fetched while the one before is opened. */
export class PagesAhead<Options extends How> {
  readonly #fetch: (from: Since, how: Options) => Promise<Page>
  #ahead: { readonly from: Since; readonly signal: AbortSignal | undefined; readonly page: Promise<Page> } | undefined

  /** `fetch` asks for the lines after `from`. */
  constructor(fetch: (from: Since, how: Options) => Promise<Page>) {
    this.#fetch = fetch
  }

  /** `ahead`: the options of the request for the page after this one. */
  async next(from: Since, how: Options, ahead: Options): Promise<Page> {
    const asked = this.#ahead
    this.#ahead = undefined
    const isAsked = asked && !asked.signal?.aborted && asked.from.sinceEtag === from.sinceEtag
    const page = await (isAsked ? asked.page : this.#fetch(from, how))
    if (page.lines.length >= how.limit) this.#fetchAhead({ sinceCount: page.count, sinceEtag: page.etag }, ahead)
    return page
  }

  #fetchAhead(from: Since, how: Options): void {
    const page = this.#fetch(from, how)
    // The next read reports it.
    page.catch(() => undefined)
    this.#ahead = { from, signal: how.signal, page }
  }
}

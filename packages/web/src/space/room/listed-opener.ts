import { type ListedFacts, ListedView } from '@atrium/room-client/listed-view'
import type { Entry } from '@atrium/room-client/space-ops'
import { LineOpener } from './line-opener.ts'
import type { ListedSecret } from './listed-lines.ts'
import type { LinePage } from './sealed-lines.ts'

/** Opens the lines of a room with a list in a worker, which returns what they say with each page. */
export class ListedOpener extends ListedView {
  readonly #opener: LineOpener

  private constructor(opener: LineOpener) {
    super()
    this.#opener = opener
  }

  static async open(secret: ListedSecret): Promise<ListedOpener> {
    const opener = new LineOpener()
    try {
      await opener.openListed(secret)
      return new ListedOpener(opener)
    } catch (error) {
      opener.close()
      throw error
    }
  }

  override get facts(): ListedFacts {
    const { facts } = this.#opener
    if (!facts) throw new Error('a room with a list has facts')
    return facts
  }

  override async take(page: LinePage): Promise<Entry[]> {
    return (await this.#opener.take(page)).entries
  }

  close(): void {
    this.#opener.close()
  }
}

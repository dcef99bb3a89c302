import { type ListedFacts, ListedView } from '@atrium/room-client/listed-view'
import type { Entry } from '@atrium/room-client/space-ops'
import { LineOpener } from './line-opener.ts'
import type { ListedSecret } from './listed-lines.ts'
import type { LinePage } from './sealed-lines.ts'

/** Opens the lines of a room with a list in a worker, which returns what they say with each page. */
export class ListedOpener extends ListedView {
  readonly #opener: LineOpener
  #facts: ListedFacts

  private constructor(opener: LineOpener, facts: ListedFacts) {
    super()
    this.#opener = opener
    this.#facts = facts
  }

  static async open(secret: ListedSecret): Promise<ListedOpener> {
    const opener = new LineOpener()
    try {
      const { facts } = await opener.openListed(secret)
      return new ListedOpener(opener, factsIn(facts))
    } catch (error) {
      opener.close()
      throw error
    }
  }

  override get facts(): ListedFacts {
    return this.#facts
  }

  override async take(page: LinePage): Promise<Entry[]> {
    const { entries, facts } = await this.#opener.take(page)
    this.#facts = factsIn(facts)
    return entries
  }

  close(): void {
    this.#opener.close()
  }
}

function factsIn(facts: ListedFacts | undefined): ListedFacts {
  if (!facts) throw new Error('a room with a list has facts')
  return facts
}

import type { Author, Entry } from '@atrium/room-client/space-ops'
import { isJsonObject } from '@atrium/contract/strict-json'

const TYPE = 'atrium.retract'

/**
 * A message that takes back another one of the same author: its text is `{"type":"atrium.retract","id":"<entry id>"}`
 * and it replies to that entry. The service stores it like any other message. Readers hide the other one, whose line
 * stays stored.
 */
export function formatRetraction(id: string): string {
  return JSON.stringify({ type: TYPE, id })
}

/** The id of the entry that this one asks to hide. */
export function parseRetraction({ message }: Pick<Entry, 'message'>): string | undefined {
  const { text, reply_to } = message
  if (reply_to === undefined || !text.startsWith('{') || text.length > 300) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) && value['type'] === TYPE && value['id'] === reply_to ? reply_to : undefined
  } catch {
    return undefined
  }
}

/**
 * Whether both were written by the same author. The service authenticates accounts and agents. A guest is a device key,
 * and only a key that was proven both times counts: everyone can name the key of another.
 */
export function isSameAuthor(a: Author, b: Author): boolean {
  if (a.kind !== b.kind) return false
  if (a.kind === 'account') return a.email !== undefined && a.email === b.email
  if (a.kind === 'agent') return a.id !== undefined && a.id === b.id
  return a.key !== undefined && a.key === b.key && a.proven === true && b.proven === true
}

/**
 * hidden: the author took it back. notice: it took another back. unloaded: it asks for that, and the other is not
 * loaded.
 */
export type Retracted = 'hidden' | 'notice' | 'unloaded'

/** What was taken back, as far as the entries are known. A retraction by another author stays an ordinary message. */
export class Retractions {
  readonly #byId: ReadonlyMap<string, Entry>
  /** Retractions by the id of what they hide. */
  readonly #byTarget = new Map<string, Entry[]>()
  #marks: ReadonlyMap<string, Retracted> = new Map()

  constructor(byId: ReadonlyMap<string, Entry>) {
    this.#byId = byId
  }

  /** By the id of an entry. Another object after each change. */
  get marks(): ReadonlyMap<string, Retracted> {
    return this.#marks
  }

  add(entries: readonly Entry[]): void {
    const targets = new Set<string>()
    for (const entry of entries) {
      const target = parseRetraction(entry)
      if (target !== undefined) {
        this.#byTarget.set(target, [...(this.#byTarget.get(target) ?? []), entry])
        targets.add(target)
      }
      if (this.#byTarget.has(entry.id)) targets.add(entry.id)
    }
    if (targets.size === 0) return
    const marks = new Map(this.#marks)
    for (const target of targets) this.#mark(marks, target)
    this.#marks = marks
  }

  clear(): void {
    this.#byTarget.clear()
    this.#marks = new Map()
  }

  #mark(marks: Map<string, Retracted>, target: string): void {
    const original = this.#byId.get(target)
    for (const retraction of this.#byTarget.get(target) ?? []) {
      if (!original) marks.set(retraction.id, 'unloaded')
      else if (original.seq < retraction.seq && isSameAuthor(original.author, retraction.author)) {
        marks.set(retraction.id, 'notice').set(target, 'hidden')
      } else marks.delete(retraction.id)
    }
  }
}

import type { Author, Entry } from '@atrium/room-client/space-ops'
import { isJsonObject } from '@atrium/contract/strict-json'
import { memberOf } from './room-list.ts'

const TYPE = 'atrium.retract'

/**
 * A message that retracts another one of the same author. Its text is `{"type":"atrium.retract","id":"<entry id>"}`,
 * and it replies to that entry. The service stores it like any other message. Readers hide the retracted message,
 * whose line remains stored.
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
 * Whether both messages have the same author. The service authenticates accounts and agents. A guest is a device key,
 * and counts only if the key was proven both times, because everyone can present another guest's key.
 */
function isSameAuthor(a: Author, b: Author): boolean {
  if (a.kind !== b.kind) return false
  if (a.kind === 'account') return a.email !== undefined && a.email === b.email
  if (a.kind === 'agent') return a.id !== undefined && a.id === b.id
  return a.key !== undefined && a.key === b.key && a.proven === true && b.proven === true
}

/**
 * Whether the first message retracts the second one for every reader, if it asks for that. In a client-sealed room with a
 * list, each device signs its messages. What is known of its member may change in between, such as by a sign-in.
 */
export function mayRetract(retraction: Entry, original: Entry): boolean {
  const device = memberOf(original)?.key
  const isSameDevice = device !== undefined && device === memberOf(retraction)?.key
  return isSameDevice || isSameAuthor(original.author, retraction.author)
}

/**
 * hidden: the author retracted this message. notice: this message retracts another one. unloaded: it does, and the
 * other one is not loaded.
 */
export type Retracted = 'hidden' | 'notice' | 'unloaded'

/** Finds the retracted messages among the known entries. A retraction by another author stays an ordinary message. */
export class Retractions {
  readonly #byId: ReadonlyMap<string, Entry>
  /** Retractions by the id of what they hide. */
  readonly #byTarget = new Map<string, Entry[]>()
  #marks: ReadonlyMap<string, Retracted> = new Map()

  constructor(byId: ReadonlyMap<string, Entry>) {
    this.#byId = byId
  }

  /** Keyed by the id of an entry. Each change makes a new object. */
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
      else if (original.seq < retraction.seq && mayRetract(retraction, original)) {
        marks.set(retraction.id, 'notice').set(target, 'hidden')
      } else marks.delete(retraction.id)
    }
  }
}

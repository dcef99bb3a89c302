/** The lists that a client has sent, and whether it has read them in the room since. */
export class SentLists {
  readonly #waiting = new Set<string>()

  add(line: string): void {
    this.#waiting.add(headerOf(line))
  }

  /** These lines are in the room, as the service stores them. */
  read(stored: readonly string[]): void {
    if (this.#waiting.size > 0) for (const line of stored) this.#waiting.delete(headerOf(line))
  }

  isRead(line: string): boolean {
    return !this.#waiting.has(headerOf(line))
  }
}

/** The protected header is the first member of a line. That of a list has a signature, so no two lists have the same. */
function headerOf(line: string): string {
  return line.slice(0, line.indexOf(','))
}

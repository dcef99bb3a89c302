import { DeadlinePassed } from './deadline.ts'

/** The verdict at the start of a line. Only FAILED makes the command fail. */
type Verdict = 'proved' | 'trusted' | 'not checked' | 'FAILED'

/** A failed check, with a message for the user. */
export class CheckFailed extends Error {}

/** Prints one line per finding and counts failures. */
export class Report {
  failures = 0
  /** The current check. */
  subject = 'nothing yet'
  readonly #write: (line: string) => void

  constructor(write: (line: string) => void) {
    this.#write = write
  }

  /** Verified here, without trusting anyone. */
  proved(text: string): void {
    this.#line('proved', text)
  }

  /** Cannot be checked from outside: the user must trust it. */
  trusted(text: string): void {
    this.#line('trusted', text)
  }

  /** Could be checked, but was not. */
  notChecked(text: string): void {
    this.#line('not checked', text)
  }

  failed(text: string): void {
    this.failures++
    this.#line('FAILED', text)
  }

  /**
   * Runs a check. If it throws, reports the failure after `subject` and returns undefined, so an answer that crashes
   * this program never passes. Only the end of the time limit ends the other checks too.
   */
  async check<Value>(subject: string, work: () => Value | Promise<Value>): Promise<Value | undefined> {
    this.subject = subject
    try {
      return await work()
    } catch (error) {
      if (error instanceof DeadlinePassed) throw error
      const isFinding = error instanceof CheckFailed
      this.failed(`${subject}: ${isFinding ? error.message : `this program could not read it (${String(error)})`}`)
      return undefined
    }
  }

  #line(verdict: Verdict, text: string): void {
    this.#write(`${verdict.padEnd(11)}  ${toPlainText(text)}`)
  }
}

const MAX_LENGTH = 2_000

/** Quotes text from a server, so that it cannot look like a part of this program's output. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
}

/** Escapes control characters, which a terminal would execute, and characters that reorder or hide text. */
export function toPlainText(text: string): string {
  const plain = text.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]+/gu, ' ')
  return plain.length > MAX_LENGTH ? `${plain.slice(0, MAX_LENGTH)}…` : plain
}

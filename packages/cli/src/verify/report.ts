import { DeadlinePassed } from './deadline.ts'

/** The words at the start of a line. Only FAILED makes the command fail. */
type Verdict = 'proved' | 'trusted' | 'not checked' | 'FAILED'

/** What a check found wrong, in words for a person. */
export class CheckFailed extends Error {}

/** Prints one line a finding, and counts what failed. */
export class Report {
  failures = 0
  /** What is being checked now. */
  subject = 'nothing yet'
  readonly #write: (line: string) => void

  constructor(write: (line: string) => void) {
    this.#write = write
  }

  /** Checked here, with nobody's word taken for it. */
  proved(text: string): void {
    this.#line('proved', text)
  }

  /** Cannot be checked from outside: somebody's word. */
  trusted(text: string): void {
    this.#line('trusted', text)
  }

  /** Could be checked and was not. */
  notChecked(text: string): void {
    this.#line('not checked', text)
  }

  failed(text: string): void {
    this.failures++
    this.#line('FAILED', text)
  }

  /**
   * Runs a check. When it throws, says so after `subject` and gives undefined: an answer that makes this program stumble is never one
   * that passes. Only the end of the time ends the other checks too.
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

/** What a server says of itself, inside a sentence of ours: it must not read as a part of it. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
}

/** One line that shows what it holds: no control characters (a terminal obeys them), none that reorder or hide text. */
function toPlainText(text: string): string {
  const plain = text.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]+/gu, ' ')
  return plain.length > MAX_LENGTH ? `${plain.slice(0, MAX_LENGTH)}…` : plain
}

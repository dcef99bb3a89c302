/** The words at the start of a line. Only FAILED makes the command fail. */
type Verdict = 'proved' | 'trusted' | 'not checked' | 'FAILED'

/** What a check found wrong, in words for a person. Anything else that is thrown is a fault of ours. */
export class CheckFailed extends Error {}

/** Prints one line a finding, and counts what failed. */
export class Report {
  failures = 0
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

  /** Runs a check. When it throws CheckFailed, says so after `subject` and gives undefined. */
  async check<Value>(subject: string, work: () => Value | Promise<Value>): Promise<Value | undefined> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof CheckFailed)) throw error
      this.failed(`${subject}: ${error.message}`)
      return undefined
    }
  }

  #line(verdict: Verdict, text: string): void {
    this.#write(`${verdict.padEnd(11)}  ${toPlainText(text)}`)
  }
}

const MAX_LENGTH = 2_000

/** One line that shows what it holds: no control characters (a terminal obeys them), none that reorder or hide text. */
function toPlainText(text: string): string {
  const plain = text.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]+/gu, ' ')
  return plain.length > MAX_LENGTH ? `${plain.slice(0, MAX_LENGTH)}…` : plain
}

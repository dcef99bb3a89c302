const KEY = 'atrium.space.log-missing'

/** What an installation logs: within seconds, and within a minute if the Space service did not answer at first. */
const graceMs = 120_000

/** More than a browser is shown at once. */
const maxKept = 50

/** Something that this browser was shown before the log had it. */
export interface MissingEntry {
  readonly what: 'certificate' | 'page' | 'epoch'
  readonly entry: object
  /** When it was first missing, in milliseconds since 1970. */
  readonly since: number
}

/** Kept until the log has them, so that an operator cannot show something new at each visit and never log it. */
export function readMissing(api: string): readonly MissingEntry[] {
  return readAll()[api] ?? []
}

export function keepMissing(api: string, missing: readonly MissingEntry[]): void {
  if (missing.length === 0 && readMissing(api).length === 0) return
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...readAll(), [api]: missing.slice(0, maxKept) }))
  } catch {
    // Storage is off: what is missing is new at every visit.
  }
}

/** The clock may have been set back since. */
export const isLate = ({ since }: MissingEntry, nowMs: number): boolean => Math.abs(nowMs - since) >= graceMs

export function isSameEntry(one: object, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function readAll(): Record<string, MissingEntry[]> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}') as Record<string, MissingEntry[]>
  } catch {
    return {}
  }
}

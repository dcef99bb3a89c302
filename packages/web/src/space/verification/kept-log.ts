const KEY = 'atrium.space.log'

/** The head of an installation's log that this browser saw last. */
export interface KeptLog {
  readonly origin: string
  readonly size: number
  /** Hexadecimal. */
  readonly root: string
}

/** undefined: this browser has not seen the log of this API. */
export function readKeptLog(api: string): KeptLog | undefined {
  return readAll()[api]
}

export function keepLog(api: string, log: KeptLog): void {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...readAll(), [api]: log }))
  } catch {
    // Storage is off: every visit is the first.
  }
}

export const isSameLog = (one: KeptLog, other: KeptLog | undefined): boolean =>
  one.origin === other?.origin && one.size === other.size && one.root === other.root

function readAll(): Record<string, KeptLog> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}') as Record<string, KeptLog>
  } catch {
    return {}
  }
}

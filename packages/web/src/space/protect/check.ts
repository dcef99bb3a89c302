import { t } from '../text/text.ts'

/**
 * proved: shown here, by this browser. trusted: believed, and said so. failed: it is not so. unknown: it could not be
 * looked into.
 */
export type Verdict = 'proved' | 'trusted' | 'failed' | 'unknown'

export interface Check {
  readonly id: string
  readonly verdict: Verdict
  readonly title: string
  readonly text: string
}

export type Report = (check: Check) => void

/** What no browser can find out about a service from afar; more of it after an agent has been in the room. */
export function believed(hasAgents: boolean): readonly Check[] {
  const ids = ['running', 'memory', 'page', ...(hasAgents ? (['agents'] as const) : [])] as const
  return ids.map((id) => ({ id, verdict: 'trusted', ...t.protection[id] }))
}

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

/** What no browser can find out about a service from afar. */
export const BELIEVED: readonly Check[] = [
  {
    id: 'running',
    verdict: 'trusted',
    title: 'The machine runs the build it names',
    text: 'A signature shows who says so, not that it is so. You trust the operator here.',
  },
  {
    id: 'memory',
    verdict: 'trusted',
    title: 'The service forgets your key after each answer',
    text: 'To read or write it needs the key for a moment. Its source shows that the key is never stored; that this source runs, you trust.',
  },
  {
    id: 'page',
    verdict: 'trusted',
    title: 'This page is the published one',
    text: 'A page cannot vouch for itself. The command below checks its scripts, and all of the above, from outside.',
  },
]

/** What must be trusted in addition after an agent has been in the room. */
export const BELIEVED_OF_AGENTS: Check = {
  id: 'agents',
  verdict: 'trusted',
  title: 'Who ran an agent here has forgotten the key',
  text: 'An agent cannot read without the room’s key. Whether it was kept after the agent had gone, nobody can check.',
}

import type { Forms } from '../page-text/en.ts'
import type { PageText } from '../page-text/page-text.ts'

/** The texts of a wall's script. The page contains them in its reader's language. */
export interface ScriptText {
  connecting: string
  live: string
  pause: string
  paused: string
  resume: string
  yes: string
  no: string
  fresh: Forms
  arrived: string
  arrivedMany: Forms
}

export function scriptText({ wall }: PageText): ScriptText {
  const { connecting, live, pause, paused, resume, yes, no, fresh, arrived, arrivedMany } = wall
  return { connecting, live, pause, paused, resume, yes, no, fresh, arrived, arrivedMany }
}

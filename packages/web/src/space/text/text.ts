import { en } from './en.ts'

export type Text = typeof en

/** All that the app says, in the language of its reader. Read when drawing, never kept: the language may change. */
export let t: Text = en

export function setText(to: Text): void {
  t = to
}

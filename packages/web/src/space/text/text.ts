import { en } from './en.ts'

export type Text = typeof en

/**
 * All texts of the app in the reader's language. Read them during rendering and do not store them, because the
 * language may change.
 */
export let t: Text = en

export function setText(to: Text): void {
  t = to
}

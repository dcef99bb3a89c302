import { Store } from './store.ts'

interface Notices {
  /** Why a sign-in that was started has failed. */
  readonly problem: string | undefined
  /** A part of the app that somebody waits for cannot be loaded, although the service answers. */
  readonly isMissing: boolean
}

/** What concerns the page and not one room. */
export const noticeStore = new Store<Notices>({ problem: undefined, isMissing: false })

import { failureOf } from '../api/failure.ts'
import { Store } from '../../space/store.ts'

interface Toast {
  readonly id: number
  readonly text: string
  /** A failure stays until it is closed. */
  readonly error?: unknown
}

const KEPT_MS = 5_000
const MAX_SHOWN = 4

export const toastStore = new Store<{ toasts: readonly Toast[] }>({ toasts: [] })
let nextId = 0

/** Shows a short message that disappears by itself, and announces it to screen readers. */
export function showToast(text: string): void {
  const id = add({ text })
  setTimeout(() => removeToast(id), KEPT_MS)
}

/** Shows why an action failed, with the error's code, its request id and its page. */
export function showFailure(error: unknown): void {
  add({ text: failureOf(error).message, error })
}

function add(toast: Omit<Toast, 'id'>): number {
  const id = nextId++
  // Of what went well, the newest is shown: twenty quick changes must not cover the list that they are made in.
  const others = toastStore.value.toasts.filter(({ error }) => error !== undefined)
  toastStore.update({ toasts: [...others, { ...toast, id }].slice(-MAX_SHOWN) })
  return id
}

/** Closes a message. */
export function removeToast(id: number): void {
  toastStore.update({ toasts: toastStore.value.toasts.filter((toast) => toast.id !== id) })
}

import { failureOf } from '../api/failure.ts'
import { Store } from '../../space/store.ts'

interface Toast {
  readonly id: number
  readonly text: string
  /** A failure stays until it is closed. */
  readonly error?: unknown
  /** What can be done about it, such as to take it back. */
  readonly action?: ToastAction | undefined
}

interface ToastAction {
  label: string
  run: () => void
}

interface ToastState {
  toasts: readonly Toast[]
  /** Where messages can be: the page, and each dialog above the one before it. */
  places: readonly string[]
}

const KEPT_MS = 5_000
/** A message with an action is kept until somebody has found the button. */
const KEPT_WITH_ACTION_MS = 10_000
const MAX_SHOWN = 4

export const toastStore = new Store<ToastState>({ toasts: [], places: [] })
let nextId = 0

/** Shows a short message that disappears by itself, and announces it to screen readers. */
export function showToast(text: string, action?: ToastAction): void {
  const id = add({ text, action })
  setTimeout(() => removeToast(id), action ? KEPT_WITH_ACTION_MS : KEPT_MS)
}

/** Shows why an action failed, with the error's code, its request id and its page. */
export function showFailure(error: unknown): void {
  add({ text: failureOf(error).message, error })
}

/** Shows the result of several changes. With an error, some failed: it stays, as a failure does. */
export function showOutcome(text: string, error: unknown, action?: ToastAction): void {
  if (error === undefined) showToast(text, action)
  else add({ text, error, action })
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

/** Moves the messages to a new place. Returns what removes it. */
export function addToastPlace(place: string): () => void {
  toastStore.update({ places: [...toastStore.value.places, place] })
  return () => toastStore.update({ places: toastStore.value.places.filter((one) => one !== place) })
}

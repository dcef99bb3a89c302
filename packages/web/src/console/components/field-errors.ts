import type { AtriumError } from '@atrium/client/atrium-error'
import { createContext } from 'preact'

interface FieldErrorsValue {
  /** What the page found wrong, by the id of the field. */
  problems: ReadonlyMap<string, string>
  /** What the server found wrong in the form that was sent. */
  details: AtriumError['details']
  /** The paths of the fields that show their own error. A field adds its path. */
  shown: Set<string>
}

/** Tells the fields of a form what is wrong with them. */
export const FieldErrors = createContext<FieldErrorsValue>({ problems: new Map(), details: [], shown: new Set() })

/** Whether a field at `path` shows an error at `at`: of its value, or of a part of it. */
export function isWithin(path: string, at: string): boolean {
  return at === path || at.startsWith(`${path}/`)
}

import type { AtriumError } from '@atrium/client/atrium-error'
import { createContext } from 'preact'

interface FieldErrorsValue {
  /** What the server found wrong in the form that was sent. */
  details: AtriumError['details']
  /** The paths of the fields that show their own error. A field adds its path. */
  shown: Set<string>
}

/** Tells the fields of a form what is wrong with them. */
export const FieldErrors = createContext<FieldErrorsValue>({ details: [], shown: new Set() })

import { useState } from 'preact/hooks'

interface Changes<Values> {
  /** What the fields show. */
  values: Values
  changes: Partial<Values>
  setter: <Name extends keyof Values>(name: Name) => (value: Values[Name]) => void
  /** These changes are saved. What was typed while they were being saved stays a change. */
  forget: (saved: Partial<Values>) => void
}

/**
 * The values of a form that edits something, and those that were changed in it. Only these are sent: another member or
 * the app may have changed the others since the page was loaded. A value that was changed and changed back is sent too,
 * because the answer to a request in between may have been lost.
 */
export function useChanges<Values extends object>(stored: Values): Changes<Values> {
  const [changes, setChanges] = useState<Partial<Values>>({})
  return {
    values: { ...stored, ...changes },
    changes,
    setter: (name) => (value) => setChanges((now) => ({ ...now, [name]: value })),
    forget: (saved) => setChanges((now) => (now === saved ? {} : now)),
  }
}

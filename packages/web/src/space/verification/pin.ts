import { getServiceOrigin, isFile } from '../service.ts'

/** A file meets several services. */
const keyOfPin = () => (isFile() ? `atrium.space.pin/${getServiceOrigin()}` : 'atrium.space.pin')

/** The signing key of the service that this browser has stored. */
export interface Pin {
  readonly kind: 'first' | 'same' | 'changed'
  /** Of the key seen now. */
  readonly thumbprint: string
  /** When the remembered one was first seen. */
  readonly since: string
}

interface Kept {
  readonly thumbprint: string
  readonly since: string
}

/**
 * Compares the key with that of the first visit. On the first visit, it stores the key. A changed key is stored only
 * if the visitor accepts it.
 */
export function pinKey(thumbprint: string): Pin {
  const kept = readPin()
  if (!kept) return { kind: 'first', ...acceptKey(thumbprint) }
  return { kind: kept.thumbprint === thumbprint ? 'same' : 'changed', thumbprint, since: kept.since }
}

/** From now on this is the key to expect. */
export function acceptKey(thumbprint: string): Kept {
  const kept: Kept = { thumbprint, since: new Date().toISOString() }
  try {
    localStorage.setItem(keyOfPin(), JSON.stringify(kept))
  } catch {
    // Storage is off: every visit is the first.
  }
  return kept
}

function readPin(): Kept | undefined {
  try {
    const text = localStorage.getItem(keyOfPin())
    return text ? (JSON.parse(text) as Kept) : undefined
  } catch {
    return undefined
  }
}

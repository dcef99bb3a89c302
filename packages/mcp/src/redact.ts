import { namesOf } from '@atrium/contract/names-of'
import { credentialPrefixes, isCredential } from '@atrium/contract/tokens'

const kinds = namesOf(credentialPrefixes).filter((kind) => kind !== 'publishableKey')
// recheck: a fixed prefix and a fixed number of characters of one class.
const form = new RegExp(`(?:${kinds.map((kind) => credentialPrefixes[kind]).join('|')})[0-9A-Za-z]{36}`, 'g')
const webhookSecret = /whsec_[A-Za-z0-9+/=_-]{24,}/g
const removed = '[credential removed]'

/**
 * Replaces every credential in the contract's formats, anywhere in a value, including one that a person pasted into
 * an item. A publishable key is public and stays.
 */
export function redact(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value)
  if (Array.isArray(value)) return value.map(redact)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [redactText(name), redact(field)]))
}

export function redactText(text: string): string {
  return text
    .replaceAll(form, (found) => (kinds.some((kind) => isCredential(kind, found)) ? removed : found))
    .replaceAll(webhookSecret, removed)
}

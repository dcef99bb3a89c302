import { type CredentialKind, credentialPrefixes, isCredential } from './tokens.ts'

export interface FoundCredential {
  /** From 1. */
  line: number
  kind: CredentialKind
  /** The prefix and the last four characters, as the page of keys in the console shows them. */
  hint: string
  /** Never printed. */
  credential: string
}

/** A publishable key is part of every page that uses it, so that finding one says nothing. */
const kinds = (Object.keys(credentialPrefixes) as CredentialKind[]).filter((kind) => kind !== 'publishableKey')

/** A lookahead, so that a match does not consume the start of the next one. */
// recheck: the prefixes are fixed letters and the rest has one length: at most 40 characters are read at each position.
const candidates = new RegExp(`(?=((?:${kinds.map((kind) => credentialPrefixes[kind]).join('|')})[0-9A-Za-z]{36}))`, 'g')

/** Credentials in a text, found by prefix, length and checksum. One in 2^32 random candidates passes. */
export function findCredentials(text: string): FoundCredential[] {
  const found: FoundCredential[] = []
  let line = 1
  let counted = 0
  for (const match of text.matchAll(candidates)) {
    const candidate = match[1] ?? ''
    const kind = kinds.find((name) => isCredential(name, candidate))
    if (kind === undefined) continue
    // Each character is looked at once, also in a file that is one line of credentials.
    line += text.slice(counted, match.index).split('\n').length - 1
    counted = match.index
    found.push({ line, kind, hint: `${credentialPrefixes[kind]}…${candidate.slice(-4)}`, credential: candidate })
  }
  return found
}

/** The text with a hint in place of each credential. */
export function maskCredentials(text: string): string {
  return findCredentials(text).reduce((masked, { credential, hint }) => masked.replaceAll(credential, hint), text)
}

import type { appPageEntry } from '@atrium/log/app-page'
import { toHex } from '@atrium/log/bytes'
import type { EntryType } from '@atrium/log/entry-types'
import { hashLeaf } from '@atrium/log/merkle'
import type { LeafToQueue } from './store.ts'

/**
 * What is logged, as JSON in one line with the members in this order, so that whoever has the object computes the same
 * bytes. docs/transparency-log.md lists the entries.
 */
export type LogEntry =
  | { type: 'certificate'; signed: string; sig: string; alg: string; pubkey: object }
  | { type: 'signing_key'; use: string; jwk: object }
  | {
      type: 'epoch'
      epoch: string
      issuer: string
      public_key: { kty: string; n: string; e: string }
      value: number
      created_at: string
      expires_at: string | null
    }
  | { type: 'agent_card'; sha256: string }
  | { type: 'books'; day: string; accounts: number; total: number; root: string }
  | { type: 'event_heads'; day: string; chains: number; root: string }
  | ReturnType<typeof appPageEntry>

/** What the Space service shows now: `/log/proof/certificate` and `/log/proof/app_page` lead to its proof. */
export type ShownType = 'certificate' | 'app_page'

/** Monitors report an entry of a type that is not in the list. */
export function leafOf(entry: LogEntry & { type: EntryType }): LeafToQueue {
  const bytes = Buffer.from(JSON.stringify(entry))
  return { leafHash: hashLeaf(bytes), entry: bytes }
}

/** Where the inclusion proof of an entry is, once the entry is logged. */
export function proofUrl(publicUrl: string, entry: LogEntry): string {
  return `${new URL(publicUrl).origin}/log/proof/${toHex(leafOf(entry).leafHash)}`
}

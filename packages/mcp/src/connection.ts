import type { AtriumClient } from '@atrium/client/call'
import type { DocsSection } from './search-docs.ts'

/** What a connection may use. Its credentials come from the client's configuration, and never from the model. */
export interface Connection {
  client: AtriumClient
  /** Origin of the installation for people, without a trailing slash. */
  publicUrl: string
  isSecretKey: boolean
  /** Whether tools that change data or spend credits may be called. */
  allowWrites: boolean
  /** X-Collection-Token of each call. */
  collectionToken: string | undefined
  /** Pays for sessions and, if asked for, for paintings. Only over stdio. */
  coupon: string | undefined
  /** What this process keeps of its own calls, so that the model does not have to hold it. Absent over HTTP. */
  kept: KeptTokens | undefined
  /** Reports a defect. The client is told only that there was one. */
  onFault: (error: unknown) => void
  /** The guides of the installation, in sections. */
  docs: () => Promise<DocsSection[]>
}

/** One-time secrets that the calls of this process returned: in memory, and gone with the process. */
export interface KeptTokens {
  /** Owner tokens by collection. */
  collections: Map<string, string>
  /** Control tokens by session. */
  sessions: Map<string, string>
}

import type { AtriumClient } from '@atrium/client/call'
import type { DocsSection } from './search-docs.ts'

/** What a connection may do. Its credentials come from the client's configuration, and never from the model. */
export interface Connection {
  client: AtriumClient
  /** The public origin of the installation, without a trailing slash. */
  publicUrl: string
  isSecretKey: boolean
  /** Whether tools that change data or spend credits may be called. */
  allowWrites: boolean
  /** X-Collection-Token of each call. */
  collectionToken: string | undefined
  /** Pays for sessions and, on request, for paintings. Only over stdio. */
  coupon: string | undefined
  /**
   * The one-time secrets of this process's own calls, so that the model does not need to see them. Absent over HTTP.
   */
  kept: KeptTokens | undefined
  /** Reports a defect. The client receives only a general error. */
  onFault: (error: unknown) => void
  /** The guides of the installation, in sections. */
  docs: () => Promise<DocsSection[]>
}

/** One-time secrets that the calls of this process returned. They are kept in memory only. */
interface KeptTokens {
  /** Owner tokens by collection. */
  collections: Map<string, string>
  /** Control tokens by session. */
  sessions: Map<string, string>
}

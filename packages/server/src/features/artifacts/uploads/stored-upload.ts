/** What is served of an upload. */
export interface StoredUpload {
  mime: string
  width: number
  height: number
  bytes: number
  /** Hex. */
  sha256: string
}

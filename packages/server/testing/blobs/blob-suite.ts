import { after, before, describe } from 'node:test'
import type { Blobs } from '#ports/blobs/blobs.ts'
import { testContents } from './test-contents.ts'
import { testKeys } from './test-keys.ts'
import { testSignedUploads } from './test-signed-uploads.ts'

export interface BlobWorld {
  blobs: Blobs
  /** Another's signature over the same store. */
  stranger: Blobs
  /** Where the test reaches a signed address. */
  reach(url: string): string
  /** Whether the store compares the bytes with the SHA-256 that was signed. */
  checksHashes: boolean
  close(): Promise<void>
}

/** What every store must do. */
export function describeBlobs(name: string, open: () => Promise<BlobWorld>, options: { skip?: string | false } = {}): void {
  describe(name, { skip: options.skip ?? false }, () => {
    let world: BlobWorld | undefined
    before(async () => {
      world = await open()
    })
    after(async () => {
      await world?.close()
    })
    const get = () => world!
    testContents(get)
    testKeys(get)
    testSignedUploads(get)
  })
}

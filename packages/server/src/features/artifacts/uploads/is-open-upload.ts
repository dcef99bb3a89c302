import type { Db } from '#db/database.ts'
import { ownerOfKey } from '#features/blob-deletions/blob-keys.ts'
import { listOpenUploads } from './store.ts'

/** Whether the bytes of the upload at this key are still awaited. Of a key that is no upload of an artifact, nothing is known here. */
export async function isOpenUpload(db: Db, key: string): Promise<boolean> {
  const owner = ownerOfKey(key)
  return !owner?.isUpload || (await listOpenUploads(db, [owner])).size === 1
}

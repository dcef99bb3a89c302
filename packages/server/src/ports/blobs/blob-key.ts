import { BlobError } from './blobs.ts'

/**
 * Names joined by slashes. No name starts with a dot, which excludes `..` and the internal folders of the disk store.
 */
const key = /^(?!\.)[A-Za-z0-9._-]{1,100}(?:\/(?!\.)[A-Za-z0-9._-]{1,100}){0,7}$/

export function isBlobKey(text: string): boolean {
  return key.test(text)
}

/** No key may be a folder of another key, because a disk cannot store both. */
export function assertBlobKey(text: string): void {
  if (!isBlobKey(text)) throw new BlobError('invalid_key', 'a blob key is up to 8 names of A-Z a-z 0-9 . _ - joined by slashes')
}

export function assertBlobPrefix(text: string): void {
  if (!text.endsWith('/') || !key.test(text.slice(0, -1)))
    throw new BlobError('invalid_key', 'a blob prefix is a blob key and a slash')
}

import type { BlobDeletion } from './store.ts'

interface CollectionRef {
  tenantId: string
  collectionId: string
}

interface BlobOwner extends CollectionRef {
  artifactId: string
  /** The blob is an upload, not what is served. */
  isUpload: boolean
}

/** All served blobs of a collection share this prefix, so that one call deletes them. */
function collectionPrefix({ tenantId, collectionId }: CollectionRef): string {
  return `${tenantId}/${collectionId}/`
}

/** All served blobs of an artifact share this prefix, so that one call deletes them. */
export function artifactPrefix(collection: CollectionRef, artifactId: string): string {
  return `${collectionPrefix(collection)}${artifactId}/`
}

/** The bytes of an artifact as they are served. */
export function originalKey(collection: CollectionRef, artifactId: string): string {
  return `${artifactPrefix(collection, artifactId)}original`
}

/** A smaller picture of the artifact, generated once. */
export function variantKey(collection: CollectionRef, artifactId: string, width: number, format: string): string {
  return `${artifactPrefix(collection, artifactId)}w${width}.${format}`
}

/**
 * Where an upload arrives. It is apart from what is served, because its presigned address can overwrite it until it
 * expires.
 */
export function uploadKey(collection: CollectionRef, artifactId: string): string {
  return `${uploadPrefix(collection)}${artifactId}`
}

function uploadPrefix(collection: CollectionRef): string {
  return `uploads/${collectionPrefix(collection)}`
}

const ownedKey = /^(uploads\/)?(ten_[0-9A-Za-z]+)\/(col_[0-9A-Za-z]+)\/(art_[0-9A-Za-z]+)(\/.+)?$/

/** The owner of a blob; undefined: the key does not belong to an artifact. */
export function ownerOfKey(key: string): BlobOwner | undefined {
  const [, uploads, tenantId, collectionId, artifactId, rest] = ownedKey.exec(key) ?? []
  if (!tenantId || !collectionId || !artifactId || (uploads === undefined) === (rest === undefined)) return undefined
  return { tenantId, collectionId, artifactId, isUpload: uploads !== undefined }
}

/** Everything that may be stored for an artifact: its bytes, their variants, and its upload. */
export function blobDeletionsOfArtifact(collection: CollectionRef, artifactId: string): BlobDeletion[] {
  return deletionsOf(collection, [artifactPrefix(collection, artifactId), uploadKey(collection, artifactId)])
}

export function blobDeletionsOfCollection(collection: CollectionRef): BlobDeletion[] {
  return deletionsOf(collection, [collectionPrefix(collection), uploadPrefix(collection)])
}

function deletionsOf({ tenantId }: CollectionRef, targets: string[]): BlobDeletion[] {
  return targets.map((target) => ({ tenantId, target }))
}

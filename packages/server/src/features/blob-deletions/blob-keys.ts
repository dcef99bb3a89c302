interface Place {
  tenantId: string
  collectionId: string
}

/** Everything of a collection lies under one prefix, and everything of an artifact too: so both can be removed whole. */
export function collectionPrefix({ tenantId, collectionId }: Place): string {
  return `${tenantId}/${collectionId}/`
}

export function artifactPrefix(place: Place, artifactId: string): string {
  return `${collectionPrefix(place)}${artifactId}/`
}

/** The bytes of an artifact as they are served. */
export function originalKey(place: Place, artifactId: string): string {
  return `${artifactPrefix(place, artifactId)}original`
}

/** Where the bytes of an upload arrive: apart from what is served, for whoever holds its address can replace them for a while. */
export function uploadKey(place: Place, artifactId: string): string {
  return `${uploadPrefix(place)}${artifactId}`
}

export function uploadPrefix(place: Place): string {
  return `uploads/${collectionPrefix(place)}`
}

/** A smaller picture of the artifact, made once. */
export function variantKey(place: Place, artifactId: string, width: number, format: string): string {
  return `${artifactPrefix(place, artifactId)}w${width}.${format}`
}

/** Whose a blob is; undefined: not ours, or of no artifact. */
export function ownerOfKey(key: string): (Place & { artifactId: string; isUpload: boolean }) | undefined {
  const [, uploads, tenantId, collectionId, artifactId, rest] = ownedKey.exec(key) ?? []
  if (!tenantId || !collectionId || !artifactId || (uploads === undefined) === (rest === undefined)) return undefined
  return { tenantId, collectionId, artifactId, isUpload: uploads !== undefined }
}

const ownedKey = /^(uploads\/)?(ten_[0-9A-Za-z]+)\/(col_[0-9A-Za-z]+)\/(art_[0-9A-Za-z]+)(\/.+)?$/

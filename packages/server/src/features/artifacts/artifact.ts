export interface Artifact {
  id: string
  seq: number
  kind: 'image' | 'clip' | 'card'
  source: 'url' | 'paint' | 'produce' | 'upload'
  url: string | null
  status: 'painting' | 'ready' | 'failed' | 'quota_exceeded'
  stage: 'uploading' | 'queued' | 'running' | 'storing' | 'done'
  approved: boolean
  published: boolean
  hero: boolean
  archived: boolean
  access: 'owner' | 'open' | 'email'
  title: string | null
  alt: string | null
  width: number | null
  height: number | null
  mime: string | null
  bytes: number | null
  sha256: string | null
  /** Of a paint: all that it takes to make it again. */
  provider: string | null
  model: string | null
  seed: number | null
  error: { code: string; message: string } | null
  createdAt: string
}

/** With the list of who may see it, sealed. */
export interface ListedArtifact extends Artifact {
  accessList: Buffer | null
}

/** Whether others than the owner may see it, as far as its access allows. */
export function isPublished(artifact: Artifact): boolean {
  return artifact.published && artifact.approved && !artifact.archived
}

/** Whether anyone may see it. listArtifacts and listShown ask the same in SQL. */
export function isPublic(artifact: Artifact): boolean {
  return isPublished(artifact) && artifact.access === 'open'
}

/** What is absent is left out, not null. */
export function artifactView(artifact: Artifact) {
  const { createdAt, title, alt, width, height, mime, bytes, sha256, provider, model, seed, error, ...always } = artifact
  return {
    ...always,
    ...(title === null ? {} : { title }),
    ...(alt === null ? {} : { alt }),
    ...(width === null ? {} : { width }),
    ...(height === null ? {} : { height }),
    ...(mime === null ? {} : { mime }),
    ...(bytes === null ? {} : { bytes }),
    ...(sha256 === null ? {} : { sha256 }),
    ...(provider === null ? {} : { provider }),
    ...(model === null ? {} : { model }),
    ...(seed === null ? {} : { seed }),
    ...(error === null ? {} : { error }),
    created_at: createdAt,
  }
}

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

/** Whether others than the owner may see it. listArtifacts and listHeroes ask the same in SQL. */
export function isPublic(artifact: Artifact): boolean {
  return artifact.published && artifact.approved && !artifact.archived
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

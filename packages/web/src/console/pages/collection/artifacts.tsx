import { useEffect, useState } from 'preact/hooks'
import { api, fetchBytes } from '../../api/api.ts'
import { may } from '../../api/roles.ts'
import { useAction } from '../../api/use-action.ts'
import { usePages } from '../../api/use-pages.ts'
import { CopyText } from '../../components/copy.tsx'
import { CurlButton } from '../../components/curl-button.tsx'
import { FailureNote } from '../../components/failure.tsx'
import { Badge, formatBytes, Time } from '../../components/format.tsx'
import { Loading } from '../../components/loading.tsx'
import { Empty } from '../../components/page-head.tsx'
import { confirm } from '../../shell/confirm.tsx'
import { showToast } from '../../shell/toast-store.ts'
import { DescribeForm } from './describe-form.tsx'

export type Artifact = Awaited<ReturnType<typeof api.listArtifacts>>['data'][number]

/** The pictures and clips of a collection as a grid. */
export function Artifacts({ id }: { id: string }) {
  const pages = usePages<Artifact>(`artifacts ${id}`, (page, signal) =>
    api.listArtifacts({ id, query: { limit: 50, ...page }, signal }),
  )
  const { rows, error, retry, refreshAll } = pages
  if (rows === undefined) return error === undefined ? <Loading /> : <FailureNote error={error} onRetry={retry} />
  if (rows.length === 0)
    return (
      <Empty title="There are no artifacts yet">
        <p>An artifact is a picture or clip that was painted, uploaded or linked. The share page shows the hero.</p>
      </Empty>
    )
  return (
    <>
      {error !== undefined && <FailureNote error={error} onRetry={retry} />}
      <ul class="grid" aria-label="Artifacts">
        {rows.map((artifact) => (
          <ArtifactCard key={artifact.id} collectionId={id} artifact={artifact} onChange={refreshAll} />
        ))}
      </ul>
      {pages.more && (
        <div class="more">
          <button class="button" type="button" disabled={pages.isLoadingMore} onClick={pages.more}>
            Load more
          </button>
        </div>
      )}
    </>
  )
}

function ArtifactCard({ collectionId, artifact, onChange }: { collectionId: string; artifact: Artifact; onChange: () => void }) {
  const [isBusy, run] = useAction()
  const [isDescribing, setDescribing] = useState(false)
  const target = { id: collectionId, artifactId: artifact.id }
  const curate = async (body: { published?: boolean; hero?: boolean }, done: string) => {
    if (await run(async () => void (await api.curateArtifact({ ...target, body })), done)) onChange()
  }
  const remove = async () => {
    const isSure = await confirm({
      title: 'Delete the artifact?',
      text: <p>Its bytes are deleted within seconds, and cannot be brought back.</p>,
      action: 'Delete the artifact',
    })
    if (isSure && (await run(async () => void (await api.deleteArtifact(target)), 'The artifact is deleted'))) onChange()
  }
  const { title, status, bytes, published, hero } = artifact
  return (
    <li class="card artifact">
      <Picture artifact={artifact} />
      <div class="artifact-text">
        <b>{title ?? artifactName(artifact)}</b>
        <p class="item-facts">
          {title !== undefined && <span>{artifactName(artifact)}</span>}
          <Badge tone={status === 'ready' ? 'good' : status === 'painting' ? 'warn' : 'bad'}>{status}</Badge>
          {published && <Badge tone="good">published</Badge>}
          {hero && <Badge tone="warn">hero</Badge>}
          {bytes !== undefined && <span>{formatBytes(bytes)}</span>}
          <Time at={artifact.created_at} />
        </p>
        <CopyText text={artifact.id} label="Copy the id" short />
        {artifact.error && <p class="hint">{artifact.error.message}</p>}
      </div>
      {may('curate') && (
        <div class="row-actions">
          <button
            class="button small"
            type="button"
            disabled={isBusy}
            onClick={() => void curate({ published: !published }, published ? 'No longer published' : 'Published')}
          >
            {published ? 'Withdraw' : 'Publish'}
          </button>
          {!hero && (
            <button
              class="button small"
              type="button"
              disabled={isBusy}
              onClick={() => void curate({ hero: true }, 'It is the hero')}
            >
              Make hero
            </button>
          )}
          <button class="button small" type="button" onClick={() => setDescribing(true)}>
            Describe
          </button>
          <button class="button small" type="button" disabled={isBusy} onClick={() => void remove()}>
            Delete
          </button>
          <CurlButton
            what="publish this artifact"
            call={() => ['curateArtifact', { ...target, collectionToken: '$COLLECTION_TOKEN', body: { published: true } }]}
          />
        </div>
      )}
      {isDescribing && (
        <DescribeForm
          collectionId={collectionId}
          artifact={artifact}
          onClose={() => setDescribing(false)}
          onDone={() => {
            setDescribing(false)
            showToast('The title and the alt text are saved')
            onChange()
          }}
        />
      )}
    </li>
  )
}

const sources: Partial<Record<Artifact['source'], string>> = { paint: 'Painted', upload: 'Uploaded', produce: 'Produced' }

/** What an artifact is, such as "Painted image". It is the name of one without a title. */
export function artifactName({ kind, source }: Artifact): string {
  return `${sources[source] ?? 'Linked'} ${kind}`
}

/** The picture in 320 pixels, fetched with the session, because only the owner sees what is not published. */
function Picture({ artifact: { id, url, kind, source, mime, alt } }: { artifact: Artifact }) {
  const [shown, setShown] = useState<string>()
  // A picture of another site is not loaded: that site would learn who looks at the console.
  const isOwn = url !== null && (source !== 'url' || url.startsWith('/') || url.startsWith(`${location.origin}/`))
  const isPicture = isOwn && kind !== 'clip' && mime?.startsWith('video/') !== true
  useEffect(() => {
    if (!isPicture) return undefined
    const stop = new AbortController()
    let address: string | undefined
    fetchBytes(`/v1/media/${id}?w=320`, stop.signal).then(
      (blob) => {
        if (stop.signal.aborted) return
        address = URL.createObjectURL(blob)
        setShown(address)
      },
      () => undefined, // Without a picture, the card says what the artifact is.
    )
    return () => {
      stop.abort()
      if (address !== undefined) URL.revokeObjectURL(address)
    }
  }, [id, url])
  if (shown !== undefined) return <img class="artifact-picture" src={shown} alt={alt ?? ''} />
  return (
    <div class="artifact-picture none">
      {url !== null && !isOwn ? (
        <a href={url} target="_blank" rel="noopener noreferrer">
          Open on {new URL(url).host}
        </a>
      ) : (
        <span class="muted">{kind}</span>
      )}
    </div>
  )
}

import { followStream } from '@atrium/client/follow-stream'
import { useEffect, useRef, useState } from 'preact/hooks'
import { isolated } from '../../../space/text/format.ts'
import { api } from '../../api/api.ts'
import { useMessages } from '../../api/use-live.ts'
import { useQuery } from '../../api/use-query.ts'
import { Facts } from '../../components/facts.tsx'
import { FailureNote } from '../../components/failure.tsx'
import { formatNumber, Time } from '../../components/format.tsx'
import { Icon } from '../../components/icon.tsx'
import { titleOf } from '../collections.tsx'
import { type Artifact, artifactName } from './artifacts.tsx'
import type { Collection } from './collection.tsx'
import { itemName } from './item-words.ts'

const WAIT_MS = 1_500
const LOOKED_AT = 100

/**
 * The share page and the wall as visitors see them, and in words what they show. They are from strangers: the frames are
 * sandboxed, without allow-same-origin, so nothing in them can reach the session.
 */
export function Preview({ collection }: { collection: Collection }) {
  const { id, metadata, wall } = collection
  const [turn, setTurn] = useState(0)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const content = useQuery(`preview ${id}`, (signal) => loadContent(id, signal))
  useMessages(
    `preview ${id}`,
    (signal) => followStream(api.streamCollection, { id, signal }),
    () => {
      // Changes come in bursts, of which some never end: the page is loaded again once in this time.
      timer.current ??= setTimeout(() => {
        timer.current = undefined
        setTurn((turn) => turn + 1)
        content.refresh()
      }, WAIT_MS)
    },
  )
  useEffect(() => () => clearTimeout(timer.current), [])
  const { data, error, reload } = content
  const description = metadata['share_description']
  return (
    <>
      {error !== undefined && <FailureNote error={error} onRetry={reload} />}
      <div class="previews">
        <Frame title="Share page" address={`/v1/collections/${id}/render`} sandbox="" turn={turn}>
          <Facts
            facts={[
              ['Title', titleOf(metadata)],
              ['Description', typeof description === 'string' ? description : 'None'],
              ['Picture', data && <PictureWords {...data} />],
            ]}
          />
        </Frame>
        {wall ? (
          <Frame title="Wall" address={`/v1/collections/${id}/wall`} sandbox="allow-scripts">
            <Facts
              facts={[
                ['Items', data && `${formatNumber(data.items.length)}${data.hasMoreItems ? ' or more' : ''}`],
                ['Newest', data?.items[0] && <ItemWords item={data.items[0]} />],
                ['Hero', data && <HeroWords items={data.items} />],
              ]}
            />
          </Frame>
        ) : (
          <section class="card">
            <h2>Wall</h2>
            <p class="muted">The wall is switched off. The settings of the collection switch it on.</p>
          </section>
        )}
      </div>
    </>
  )
}

interface Content {
  /** What visitors may read, newest first. */
  items: OpenItem[]
  hasMoreItems: boolean
  picture: Artifact | undefined
  hasMoreArtifacts: boolean
}

type OpenItem = Awaited<ReturnType<typeof api.listOpenItems>>['data'][number]

async function loadContent(id: string, signal: AbortSignal): Promise<Content> {
  const [items, artifacts] = await Promise.all([
    api.listOpenItems({ id, query: { order: 'newest', limit: LOOKED_AT }, signal }),
    api.listArtifacts({ id, query: { limit: LOOKED_AT }, signal }),
  ])
  return {
    items: items.data,
    hasMoreItems: items.nextCursor !== undefined,
    picture: artifacts.data.find((artifact) => artifact.hero && isPublic(artifact)),
    hasMoreArtifacts: artifacts.nextCursor !== undefined,
  }
}

function isPublic({ published, approved, archived, access, status }: Artifact): boolean {
  return published && approved && !archived && access === 'open' && status === 'ready'
}

function PictureWords({ picture, hasMoreArtifacts }: Content) {
  if (!picture)
    return <>{hasMoreArtifacts ? `None among the first ${LOOKED_AT} artifacts` : 'None: no published artifact is the hero'}</>
  const { title, created_at: at } = picture
  return (
    <>
      {title === undefined ? artifactName(picture) : `“${isolated(title)}” (${artifactName(picture).toLowerCase()})`},{' '}
      <Time at={at} />
    </>
  )
}

function HeroWords({ items }: { items: readonly OpenItem[] }) {
  const hero = items.find((item) => item.hero)
  return hero ? <ItemWords item={hero} /> : <>None</>
}

/** “More soup!” by Mwangi, wish, 3 min. ago. */
function ItemWords({ item }: { item: OpenItem }) {
  return (
    <>
      {itemName(item)} {item.author === null ? 'without an author' : `by ${isolated(item.author)}`}, <code>{item.type}</code>,{' '}
      <Time at={item.created_at} />
    </>
  )
}

interface FrameProps {
  title: string
  address: string
  sandbox: string
  /** Another number loads the page again. */
  turn?: number
  /** What it shows. */
  children: preact.ComponentChildren
}

function Frame({ title, address, sandbox, turn, children }: FrameProps) {
  return (
    <section class="card" aria-label={title}>
      <div class="card-head">
        <h2>{title}</h2>
        <a class="quiet" href={address} target="_blank" rel="noopener noreferrer">
          Open <Icon name="outside" />
        </a>
      </div>
      {children}
      <iframe
        key={turn}
        class="preview"
        title={title}
        src={address}
        sandbox={sandbox}
        referrerpolicy="no-referrer"
        loading="lazy"
      />
    </section>
  )
}

import { api } from '../../api/api.ts'
import { useQuery } from '../../api/use-query.ts'
import { CopyText } from '../../components/copy.tsx'
import { FailureNote } from '../../components/failure.tsx'
import { Badge } from '../../components/format.tsx'
import { Loading } from '../../components/loading.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { Tabs } from '../../components/tabs.tsx'
import type { Params } from '../../router/match-path.ts'
import { usePath } from '../../router/router.tsx'
import { stateTones, titleOf } from '../collections.tsx'
import { Artifacts } from './artifacts.tsx'
import { CollectionSettings } from './collection-settings.tsx'
import { Items } from './items.tsx'
import { Preview } from './preview.tsx'

export type Collection = Awaited<ReturnType<typeof api.getCollection>>['data']

/** One collection: its items, artifacts, pages and settings. */
export function CollectionPage({ params: { id = '' } }: { params: Params }) {
  const path = usePath()
  const { data, error, reload, set } = useQuery(
    `collection ${id}`,
    async (signal) => (await api.getCollection({ id, signal })).data,
  )
  const up = { to: '/collections', title: 'Collections' }
  if (!data)
    return (
      <>
        <PageHead title="Collection" up={up} />
        {error === undefined ? <Loading /> : <FailureNote error={error} onRetry={reload} />}
      </>
    )
  const base = `/collections/${id}`
  const part = path.slice(base.length)
  return (
    <>
      <PageHead
        title={titleOf(data.metadata)}
        up={up}
        lead={
          <>
            <Badge tone={stateTones[data.state]}>{data.state}</Badge> <CopyText text={id} label="Copy the id" />
          </>
        }
      />
      <Tabs
        label="Parts of the collection"
        path={path}
        tabs={[
          [base, 'Items'],
          [`${base}/artifacts`, 'Artifacts'],
          [`${base}/preview`, 'Preview'],
          [`${base}/settings`, 'Settings'],
        ]}
      />
      {part === '' && <Items id={id} />}
      {part === '/artifacts' && <Artifacts id={id} />}
      {part === '/preview' && <Preview collection={data} />}
      {part === '/settings' && <CollectionSettings collection={data} onChange={(changed) => set(() => changed)} />}
    </>
  )
}

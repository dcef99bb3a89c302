import { useState } from 'preact/hooks'
import { api } from '../api/api.ts'
import { may } from '../api/roles.ts'
import { usePages } from '../api/use-pages.ts'
import { CopyText } from '../components/copy.tsx'
import { CurlButton } from '../components/curl-button.tsx'
import { PagedTable } from '../components/data-table.tsx'
import { CheckField, SelectField, TextField } from '../components/fields.tsx'
import { Badge, formatNumber, shownTitle, Time } from '../components/format.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { Icon } from '../components/icon.tsx'
import { Empty, PageHead } from '../components/page-head.tsx'
import { useTyped } from '../components/use-typed.ts'
import { Link, navigate, useSearch } from '../router/router.tsx'
import { useSecrets } from '../shell/secrets.tsx'
import { useShortcuts } from '../shell/shortcuts.tsx'

type State = 'open' | 'ready' | 'closed'
export const stateTones = { open: 'good', ready: 'warn', closed: 'plain' } as const

const states = [
  ['', 'Every state'],
  ['open', 'Open'],
  ['ready', 'Ready'],
  ['closed', 'Closed'],
] as const

export function Collections() {
  const [search, change] = useSearch()
  const q = search.get('q') ?? ''
  const state = (search.get('state') ?? '') as State | ''
  const query = { limit: 50, ...(state === '' ? {} : { state }), ...(q === '' ? {} : { q }) }
  const pages = usePages(`collections ${JSON.stringify(query)}`, (page, signal) =>
    api.listCollections({ query: { ...query, ...page }, signal }),
  )
  const [isNew, setNew] = useState(false)
  const mayCreate = may('curate')
  useShortcuts('Collections', mayCreate ? [{ keys: 'n', label: 'New collection', run: () => setNew(true) }] : [])
  const isFiltered = q !== '' || state !== ''
  return (
    <>
      <PageHead title="Collections" lead="What the visitors of your apps add, and the pages that show it.">
        <CurlButton what="list the collections" call={() => ['listCollections', { query }]} />
        {mayCreate && (
          <button class="button primary" type="button" onClick={() => setNew(true)}>
            <Icon name="plus" />
            New collection
          </button>
        )}
      </PageHead>
      <div class="filters">
        <SearchField label="Search by title" value={q} onChange={(value) => change({ q: value })} />
        <SelectField label="State" path={null} value={state} options={states} onChange={(value) => change({ state: value })} />
      </div>
      <PagedTable
        caption="Collections"
        pages={pages}
        keyOf={({ id }) => id}
        empty={
          isFiltered ? (
            <Empty title="No collection matches" />
          ) : (
            <Empty title="There are no collections yet">
              <p>
                A collection holds what visitors add: wishes, pictures, votes. Your app makes one for each event, or you make one
                here.
              </p>
            </Empty>
          )
        }
        columns={[
          {
            title: 'Title',
            wide: true,
            cell: ({ id, metadata }) => (
              <Link to={`/collections/${id}`} class="row-link">
                {titleOf(metadata)}
              </Link>
            ),
          },
          { title: 'State', cell: ({ state }) => <Badge tone={stateTones[state]}>{state}</Badge> },
          { title: 'Items shown', align: 'end', cell: ({ item_count }) => formatNumber(item_count) },
          {
            title: 'Who may add',
            cell: ({ contributor_policy: policy }) => (policy === 'open' ? 'every visitor' : 'holders of the token'),
          },
          { title: 'Id', cell: ({ id }) => <CopyText text={id} label="Copy the id" short /> },
          { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
      {isNew && <NewCollection onClose={() => setNew(false)} />}
    </>
  )
}

export function titleOf(metadata: Record<string, unknown>): string {
  return shownTitle(metadata) ?? 'Without a title'
}

const TYPING_MS = 250

/** A search that waits until the reader stops typing. */
export function SearchField({ label, value, onChange }: { label: string; value: string; onChange: (value: string) => void }) {
  const [text, setText] = useTyped(value, onChange, TYPING_MS)
  return <TextField label={label} path={null} type="search" value={text} onChange={setText} maxLength={200} />
}

function NewCollection({ onClose }: { onClose: () => void }) {
  const [title, setTitle] = useState('')
  const [policy, setPolicy] = useState<'open' | 'token'>('open')
  const [wall, setWall] = useState(false)
  const showSecret = useSecrets()
  const body = {
    metadata: title.trim() === '' ? {} : { share_title: title.trim() },
    contributor_policy: policy,
    wall,
    ...(wall ? { item_access: 'open' as const } : {}),
  }
  const create = async (idempotencyKey: string) => {
    const { id, admin_token: ownerToken, contributor_token: token } = (await api.createCollection({ body, idempotencyKey })).data
    onClose()
    showSecret({
      title: 'The collection is made',
      text: 'Your app needs these tokens to act for the owner or a contributor. The console does not need them.',
      secrets: [['Owner token', ownerToken], ...(token === undefined ? [] : [['Contributor token', token] as const])],
      onDone: () => navigate(`/collections/${id}`),
    })
  }
  return (
    <FormDialog
      title="New collection"
      action="Make the collection"
      onClose={onClose}
      curl={() => ['createCollection', { body }]}
      onSubmit={create}
    >
      <TextField
        label="Title"
        path="/metadata/share_title"
        value={title}
        onChange={setTitle}
        hint="Shown on the share page and the wall."
        maxLength={200}
      />
      <SelectField
        label="Who may add items"
        path="/contributor_policy"
        value={policy}
        onChange={setPolicy}
        options={[
          ['open', 'Every visitor of the app'],
          ['token', 'Holders of the contributor token'],
        ]}
      />
      <CheckField
        path="/wall"
        label="Show the items on a wall that anyone with the link can open"
        checked={wall}
        onChange={setWall}
      />
    </FormDialog>
  )
}

import { followStream } from '@atrium/client/follow-stream'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { api } from '../../api/api.ts'
import { may } from '../../api/roles.ts'
import { useAction } from '../../api/use-action.ts'
import { useLive } from '../../api/use-live.ts'
import { usePages } from '../../api/use-pages.ts'
import { CurlButton } from '../../components/curl-button.tsx'
import { downloadExport } from '../../components/download-export.ts'
import { FailureNote } from '../../components/failure.tsx'
import { SelectField } from '../../components/fields.tsx'
import { formatNumber } from '../../components/format.tsx'
import { Icon } from '../../components/icon.tsx'
import { Loading } from '../../components/loading.tsx'
import { Empty } from '../../components/page-head.tsx'
import { useSearch } from '../../router/router.tsx'
import { confirm } from '../../shell/confirm.tsx'
import { Keys, useShortcuts } from '../../shell/shortcuts.tsx'
import { SearchField } from '../collections.tsx'
import { BulkBar } from './bulk-bar.tsx'
import { ItemDialog } from './item-dialog.tsx'
import { ItemRow } from './item-row.tsx'
import { type BulkAction, type Flag, type Item, useCuration } from './use-curation.ts'
import { useSelection } from './use-selection.ts'

const filters = {
  '': { label: 'All items', query: {} },
  shown: { label: 'Approved', query: { approved: true, archived: false } },
  hidden: { label: 'Not approved', query: { approved: false, archived: false } },
  archived: { label: 'Archived', query: { archived: true } },
  hero: { label: 'The hero', query: { hero: true } },
} as const
type Filter = keyof typeof filters

const accessLabels = { '': 'Any', owner: 'Only the owner', open: 'Everyone', email: 'Listed accounts' } as const
type Access = keyof typeof accessLabels

/** The items of a collection, newest first, and their curation by keyboard. */
export function Items({ id }: { id: string }) {
  const [search, setSearch] = useSearch()
  const given = search.get('show') ?? ''
  const filter = (given in filters ? given : '') as Filter
  const q = search.get('q') ?? ''
  const givenAccess = search.get('access') ?? ''
  const access = (givenAccess in accessLabels ? givenAccess : '') as Access
  const wanted = { ...filters[filter].query, ...(access === '' ? {} : { access }), ...(q === '' ? {} : { q }) }
  const query = { order: 'newest' as const, limit: 50, ...wanted }
  const pages = usePages<Item>(`items ${id} ${JSON.stringify(query)}`, async (page, signal) => {
    const { data, ...rest } = await api.listItems({ id, query: { ...query, ...page }, signal })
    return { ...rest, data: data.items }
  })
  const curation = useCuration(id, pages)
  const [isExporting, run] = useAction()
  const exported = new URLSearchParams(Object.entries(wanted).map(([name, value]) => [name, String(value)]))
  const save = () => downloadExport(`/v1/collections/${id}/export?${exported}`, id)
  const [active, setActive] = useState(-1)
  // Keys can be pressed faster than the page is rendered.
  const at = useRef(-1)
  const activate = (to: number) => {
    at.current = to
    setActive(to)
  }
  const [opened, setOpened] = useState<string>()
  const list = useRef<HTMLUListElement>(null)
  const fresh = useLive(`collection ${id}`, 'item.created', (signal) => followStream(api.streamCollection, { id, signal }))
  const rows = pages.rows ?? []
  const go = (to: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, to))
    activate(next)
    ;(list.current?.children[next] as HTMLElement | undefined)?.focus()
  }
  // Before the list is shown: later, it would undo a key that was pressed at once.
  useLayoutEffect(() => activate(-1), [JSON.stringify(query)])
  const refresh = () => {
    fresh.clear()
    pages.reload()
  }
  const selection = useSelection(
    JSON.stringify(query),
    rows.map((row) => row.id),
  )
  const act = async (action: BulkAction) => {
    const ids = selection.now()
    if (action === 'delete' && !(await askToDelete(ids.length))) return
    selection.set([])
    const failed = await curation.run(action, ids)
    if (failed.length > 0) selection.set(failed)
  }
  const toggle = (flag: Flag) => {
    const current = rows[at.current]
    if (current) curation.toggle(current.id, flag)
  }
  /** Changes the selected items, or else the active one. Where some are not so yet, all become so. */
  const change = (flag: 'approved' | 'archived', on: BulkAction, off: BulkAction) => {
    const ids = selection.now()
    if (ids.length === 0) toggle(flag)
    else void act(rows.some((row) => ids.includes(row.id) && !row[flag]) ? on : off)
  }
  const select = () => {
    const current = rows[at.current]
    if (current) selection.toggle(current.id)
  }
  const mayCurate = may('curate')
  useShortcuts('Items', [
    { keys: 'j', label: 'Next item', run: () => go(at.current + 1) },
    { keys: 'k', label: 'Previous item', run: () => go(at.current - 1) },
    { keys: 'o', label: 'Open the item', run: () => setOpened(rows[at.current]?.id) },
    ...(mayCurate
      ? [
          { keys: 's', label: 'Select the item, or not', run: select },
          { keys: 'Escape', label: 'Select nothing', run: () => selection.set([]) },
          {
            keys: 'a',
            label: 'Approve the item or the selected ones, or take it back',
            run: () => change('approved', 'approve', 'unapprove'),
          },
          {
            keys: 'x',
            label: 'Archive the item or the selected ones, or take it back',
            run: () => change('archived', 'archive', 'restore'),
          },
          { keys: 'h', label: 'Make it the hero, or not', run: () => toggle('hero') },
          { keys: 'u', label: 'Undo the last change', run: curation.undo },
        ]
      : []),
    { keys: 'r', label: 'Load new items', run: refresh },
  ])
  const shown = rows.find((row) => row.id === opened)
  const actions: RowActions = {
    activate: (of) => activate(rows.findIndex((row) => row.id === of)),
    open: setOpened,
    select: (of, isRange) => selection.toggle(of, isRange),
    toggle: (of, flag) => curation.toggle(of, flag),
  }
  const latest = useRef(actions)
  latest.current = actions
  const selected = new Set(selection.ids)
  return (
    <>
      <div class="filters">
        <SearchField label="Search in the items" value={q} onChange={(value) => setSearch({ q: value })} />
        <SelectField
          label="Show"
          path={null}
          value={filter}
          options={Object.entries(filters).map(([value, { label }]) => [value as Filter, label] as const)}
          onChange={(value) => setSearch({ show: value })}
        />
        <SelectField
          label="Who reads it"
          path={null}
          value={access}
          options={Object.entries(accessLabels).map(([value, label]) => [value as Access, label] as const)}
          onChange={(value) => setSearch({ access: value })}
        />
        <CurlButton what="list these items" call={() => ['listItems', { id, collectionToken: '$COLLECTION_TOKEN', query }]} />
        <button class="button" type="button" disabled={isExporting} onClick={() => void run(save, 'The export is complete')}>
          <Icon name="download" />
          {isExporting ? 'Reading…' : 'Export'}
        </button>
        {mayCurate && (
          // Always there, so that the list does not move when the first change is made.
          <button class="button" type="button" aria-disabled={!curation.canUndo} onClick={curation.undo}>
            Undo <Keys keys="u" />
          </button>
        )}
      </div>
      {fresh.count > 0 && (
        <button class="button wide" type="button" onClick={refresh}>
          {fresh.count} new {fresh.count === 1 ? 'item' : 'items'}: show
        </button>
      )}
      {pages.error !== undefined && <FailureNote error={pages.error} onRetry={pages.retry} />}
      {pages.rows === undefined && pages.error === undefined && <Loading lines={8} />}
      {pages.rows?.length === 0 && (
        <Empty title={Object.keys(wanted).length === 0 ? 'There are no items yet' : 'No item matches'}>
          <p>Items appear here as visitors add them.</p>
        </Empty>
      )}
      {mayCurate && rows.length > 0 && (
        <BulkBar collectionId={id} selection={selection} count={rows.length} onAction={(action) => void act(action)}>
          <p class="hint key-hints">
            <Keys keys="j k" /> move <Keys keys="s" /> select <Keys keys="a" /> approve or take back <Keys keys="h" /> hero or not{' '}
            <Keys keys="x" /> archive or take back <Keys keys="u" /> undo
          </p>
        </BulkBar>
      )}
      <ul class="items" ref={list} aria-label="Items">
        {rows.map((item, index) => (
          <SteadyRow
            key={item.id}
            item={item}
            isActive={index === Math.max(0, active)}
            isSelected={selected.has(item.id)}
            mayCurate={mayCurate}
            actions={latest}
          />
        ))}
      </ul>
      {pages.more && (
        <div class="more">
          <button class="button" type="button" disabled={pages.isLoadingMore} onClick={pages.more}>
            {pages.isLoadingMore ? 'Loading…' : 'Load more'}
          </button>
        </div>
      )}
      {shown && (
        <ItemDialog
          collectionId={id}
          item={shown}
          onClose={() => setOpened(undefined)}
          onChange={(access) => pages.set((all) => all.map((row) => (row.id === shown.id ? { ...row, access } : row)))}
          onDeleted={() => {
            setOpened(undefined)
            pages.set((all) => all.filter((row) => row.id !== shown.id))
          }}
        />
      )}
    </>
  )
}

interface RowActions {
  activate: (id: string) => void
  open: (id: string) => void
  select: (id: string, isRange: boolean) => void
  toggle: (id: string, flag: Flag) => void
}

interface SteadyRowProps {
  item: Item
  isActive: boolean
  isSelected: boolean
  mayCurate: boolean
  actions: { readonly current: RowActions }
}

/** Renders again only if one of its own properties changes: a key press changes one or two of a thousand items. */
function SteadyRow({ item, isActive, isSelected, mayCurate, actions }: SteadyRowProps) {
  const { id } = item
  const row = () => (
    <ItemRow
      item={item}
      isActive={isActive}
      onActivate={() => actions.current.activate(id)}
      onOpen={() => actions.current.open(id)}
      {...(mayCurate && {
        curate: {
          isSelected,
          onSelect: (isRange) => actions.current.select(id, isRange),
          onToggle: (flag) => actions.current.toggle(id, flag),
        },
      })}
    />
  )
  return useMemo(row, [item, isActive, isSelected, mayCurate])
}

function askToDelete(count: number): Promise<boolean> {
  const what = count === 1 ? 'the item' : `${formatNumber(count)} items`
  return confirm({
    title: `Delete ${what}?`,
    text: <p>They are deleted for everyone, and cannot be brought back. Archiving hides them instead.</p>,
    action: `Delete ${what}`,
  })
}

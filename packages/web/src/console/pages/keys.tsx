import { useState } from 'preact/hooks'
import { isolated } from '../../space/text/format.ts'
import { api } from '../api/api.ts'
import { may } from '../api/roles.ts'
import { useAction } from '../api/use-action.ts'
import { usePages } from '../api/use-pages.ts'
import { CopyText } from '../components/copy.tsx'
import { CurlButton } from '../components/curl-button.tsx'
import { PagedTable } from '../components/data-table.tsx'
import { SelectField, TextField } from '../components/fields.tsx'
import { Badge, Time } from '../components/format.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { Icon } from '../components/icon.tsx'
import { Empty, PageHead } from '../components/page-head.tsx'
import { confirm } from '../shell/confirm.tsx'
import { useSecrets } from '../shell/secrets.tsx'
import { useShortcuts } from '../shell/shortcuts.tsx'
import { KeyLeaks } from './key-leaks.tsx'

type Key = Awaited<ReturnType<typeof api.listKeys>>['data'][number]

/** The keys of the tenant. A secret key is in the browser only in the dialog that shows it once. */
export function KeysPage() {
  const pages = usePages('keys', async (page, signal) => {
    const { data, nextCursor } = await api.listKeys({ query: page, signal })
    return { nextCursor, data: data.toReversed().sort((a, b) => Number(isEnded(a)) - Number(isEnded(b))) }
  })
  const [form, setForm] = useState<'new' | Key>()
  const showSecret = useSecrets()
  const [isBusy, run] = useAction()
  const mayChange = may('develop')
  useShortcuts('Keys', mayChange ? [{ keys: 'n', label: 'New key', run: () => setForm('new') }] : [])
  const revoke = async (key: Key) => {
    const isSure = await confirm({
      title: `Revoke ${isolated(key.name ?? key.hint)}?`,
      text: <p>Requests with this key are refused within seconds. This cannot be undone.</p>,
      action: 'Revoke the key',
    })
    if (!isSure) return
    await run(async () => void (await api.revokeKey({ keyId: key.id })), 'The key is revoked')
    pages.refreshAll()
  }
  return (
    <>
      <PageHead title="Keys" lead="A secret key is for servers. A publishable key may be in an app, where everyone can read it.">
        <CurlButton what="list the keys" call={() => ['listKeys', {}]} />
        {mayChange && (
          <button class="button primary" type="button" onClick={() => setForm('new')}>
            <Icon name="plus" />
            New key
          </button>
        )}
      </PageHead>
      <PagedTable
        caption="Keys"
        pages={pages}
        keyOf={({ id }) => id}
        empty={<Empty title="There are no keys" />}
        columns={[
          { title: 'Name', cell: (key) => <b>{key.name ?? 'Without a name'}</b>, wide: true },
          { title: 'Kind', cell: ({ kind }) => <span class="nowrap">{kind}</span> },
          { title: 'Key', cell: ({ hint }) => <code class="nowrap">{hint}</code> },
          { title: 'Id', cell: ({ id }) => <CopyText text={id} label="Copy the id" short /> },
          { title: 'State', cell: (key) => <State of={key} /> },
          { title: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
          { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
          {
            title: 'Actions',
            align: 'end',
            cell: (key) =>
              mayChange &&
              !isEnded(key) && (
                <span class="row-actions">
                  {key.expires_at === null && (
                    <button class="button small" type="button" onClick={() => setForm(key)}>
                      Rotate
                    </button>
                  )}
                  <button class="button small" type="button" disabled={isBusy} onClick={() => void revoke(key)}>
                    Revoke
                  </button>
                  <CurlButton what="revoke this key" call={() => ['revokeKey', { keyId: key.id }]} />
                </span>
              ),
          },
        ]}
      />
      <KeyLeaks />
      {form !== undefined && (
        <KeyForm
          rotated={form === 'new' ? undefined : form}
          onClose={() => setForm(undefined)}
          onMade={(key) => {
            setForm(undefined)
            pages.reload()
            showSecret({
              title: 'The new key',
              text: 'Store it now: the server keeps only its hash.',
              secrets: [[key.startsWith('wsk_') ? 'Secret key' : 'Publishable key', key]],
            })
          }}
        />
      )}
    </>
  )
}

function isEnded({ revoked_at, expires_at }: Key): boolean {
  return revoked_at !== null || (expires_at !== null && Date.parse(expires_at) <= Date.now())
}

function State({ of: key }: { of: Key }) {
  if (key.revoked_at !== null) return <Badge tone="bad">revoked</Badge>
  if (isEnded(key)) return <Badge tone="bad">expired</Badge>
  if (key.expires_at !== null)
    return (
      <>
        <Badge tone="warn">expires</Badge> <Time at={key.expires_at} />
      </>
    )
  return <Badge tone="good">active</Badge>
}

const overlaps = [
  ['0', 'It ends at once'],
  ['3600', 'It works for another hour'],
  ['86400', 'It works for another day'],
] as const

interface KeyFormProps {
  /** The key to replace; absent: an additional one. */
  rotated: Key | undefined
  onClose: () => void
  onMade: (key: string) => void
}

function KeyForm({ rotated, onClose, onMade }: KeyFormProps) {
  const [kind, setKind] = useState<Key['kind']>(rotated?.kind ?? 'secret')
  const [name, setName] = useState(rotated?.name ?? '')
  const [overlap, setOverlap] = useState<(typeof overlaps)[number][0]>('3600')
  const body = {
    kind,
    ...(name.trim() === '' ? {} : { name: name.trim() }),
    ...(rotated ? { rotates: rotated.id, overlap_seconds: Number(overlap) } : {}),
  }
  return (
    <FormDialog
      title={rotated ? `Rotate ${isolated(rotated.name ?? rotated.hint)}` : 'New key'}
      action={rotated ? 'Rotate the key' : 'Create the key'}
      onClose={onClose}
      curl={() => ['createKey', { body }]}
      onSubmit={async (idempotencyKey) => onMade((await api.createKey({ body, idempotencyKey })).data.key)}
    >
      {!rotated && (
        <SelectField
          label="Kind"
          path="/kind"
          value={kind}
          onChange={setKind}
          options={[
            ['secret', 'Secret: for servers'],
            ['publishable', 'Publishable: for apps'],
          ]}
        />
      )}
      {rotated && <p>A new key of the same kind is made, and shown once. The old one ends at the time that you choose here.</p>}
      <TextField
        label={rotated ? 'Name of the new key' : 'Name'}
        path="/name"
        value={name}
        onChange={setName}
        maxLength={120}
        hint="Where the key is used, such as “production”. It may be empty."
      />
      {rotated && (
        <SelectField label="The old key" path="/overlap_seconds" value={overlap} onChange={setOverlap} options={overlaps} />
      )}
    </FormDialog>
  )
}

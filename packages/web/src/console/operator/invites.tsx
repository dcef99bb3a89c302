import { useState } from 'preact/hooks'
import { api } from '../api/api.ts'
import { useAction } from '../api/use-action.ts'
import { usePages } from '../api/use-pages.ts'
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

type Invite = Awaited<ReturnType<typeof api.listInvites>>['data'][number]

const tones = { active: 'good', used: 'plain', expired: 'warn', revoked: 'bad' } as const

/** The codes with which people sign up as tenants. */
export function InvitesPage() {
  const pages = usePages('invites', (page, signal) => api.listInvites({ query: page, signal }))
  const [isNew, setNew] = useState(false)
  const showSecret = useSecrets()
  const [isBusy, run] = useAction()
  useShortcuts('Invites', [{ keys: 'n', label: 'New invite', run: () => setNew(true) }])
  const revoke = async ({ id, hint }: Invite) => {
    const isSure = await confirm({
      title: `Revoke ${hint ?? id}?`,
      text: <p>Nobody signs up with it from now on. Tenants that did stay.</p>,
      action: 'Revoke the invite',
    })
    if (!isSure) return
    await run(async () => void (await api.revokeInvite({ inviteId: id })), 'The invite is revoked')
    pages.refreshAll()
  }
  return (
    <>
      <PageHead title="Invites" lead="A person signs up as a tenant with an invite.">
        <CurlButton what="list the invites" call={() => ['listInvites', {}]} />
        <button class="button primary" type="button" onClick={() => setNew(true)}>
          <Icon name="plus" />
          New invite
        </button>
      </PageHead>
      <PagedTable
        caption="Invites"
        pages={pages}
        keyOf={({ id }) => id}
        empty={<Empty title="There are no invites" />}
        columns={[
          { title: 'Invite', wide: true, cell: ({ hint, id }) => <code>{hint ?? id}</code> },
          { title: 'State', cell: ({ state }) => <Badge tone={tones[state]}>{state}</Badge> },
          {
            title: 'Uses left',
            align: 'end',
            cell: ({ uses, uses_left: left }) => (uses === null ? left : `${left} of ${uses}`),
          },
          { title: 'Expires', cell: ({ expires_at: at }) => <Time at={at} /> },
          { title: 'Created', cell: ({ created_at: at }) => <Time at={at} /> },
          {
            title: 'Actions',
            align: 'end',
            cell: (invite) =>
              invite.state === 'active' && (
                <span class="row-actions">
                  <button class="button small" type="button" disabled={isBusy} onClick={() => void revoke(invite)}>
                    Revoke
                  </button>
                  <CurlButton what="revoke this invite" call={() => ['revokeInvite', { inviteId: invite.id }]} />
                </span>
              ),
          },
        ]}
      />
      {isNew && (
        <InviteForm
          onClose={() => setNew(false)}
          onMade={(code) => {
            setNew(false)
            pages.reload()
            showSecret({
              title: 'The new invite',
              text: 'Send it to the person: the server keeps only its hash.',
              secrets: [['Invite code', code]],
            })
          }}
        />
      )}
    </>
  )
}

const periods = [
  ['7', 'In a week'],
  ['30', 'In 30 days'],
  ['', 'Never'],
] as const

function InviteForm({ onClose, onMade }: { onClose: () => void; onMade: (code: string) => void }) {
  const [uses, setUses] = useState('1')
  const [days, setDays] = useState<(typeof periods)[number][0]>('7')
  // The same when the form is sent again: see Form.
  const [from] = useState(Date.now)
  const body = {
    uses: Number(uses),
    ...(days === '' ? {} : { expires_at: new Date(from + Number(days) * 86_400_000).toISOString() }),
  }
  return (
    <FormDialog
      title="New invite"
      action="Create the invite"
      onClose={onClose}
      curl={() => ['createInvite', { body }]}
      onSubmit={async (idempotencyKey) => onMade((await api.createInvite({ body, idempotencyKey })).data.invite_code)}
    >
      <TextField label="Sign-ups" path="/uses" type="number" min={1} max={10_000} required value={uses} onChange={setUses} />
      <SelectField label="Expires" path="/expires_at" value={days} options={periods} onChange={setDays} />
    </FormDialog>
  )
}

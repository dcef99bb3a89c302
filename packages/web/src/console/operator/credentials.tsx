import { useState } from 'preact/hooks'
import { isolated } from '../../space/text/format.ts'
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

type Credential = Awaited<ReturnType<typeof api.listOperatorCredentials>>['data'][number]

const tones = { active: 'good', expired: 'warn', revoked: 'bad' } as const

function stateOf({ expires_at: ends, revoked_at: revoked }: Credential): keyof typeof tones {
  if (revoked !== null) return 'revoked'
  return ends !== null && Date.parse(ends) <= Date.now() ? 'expired' : 'active'
}

/** The tokens of operators and of their programs. */
export function CredentialsPage() {
  const pages = usePages('operator credentials', (page, signal) => api.listOperatorCredentials({ query: page, signal }))
  const [isNew, setNew] = useState(false)
  const showSecret = useSecrets()
  const [isBusy, run] = useAction()
  useShortcuts('Operators', [{ keys: 'n', label: 'New credential', run: () => setNew(true) }])
  const revoke = async ({ id, name }: Credential) => {
    const isSure = await confirm({
      title: `Revoke the credential of ${isolated(name)}?`,
      text: <p>Every process refuses its token from the next call on. This cannot be undone.</p>,
      action: `Revoke ${isolated(name)}`,
    })
    if (!isSure) return
    await run(async () => void (await api.revokeOperatorCredential({ credentialId: id })), 'The credential is revoked')
    pages.refreshAll()
  }
  return (
    <>
      <PageHead
        title="Operators"
        lead="A token for each operator and program. The audit log names them. The bootstrap token is not listed."
      >
        <CurlButton what="list the credentials" call={() => ['listOperatorCredentials', {}]} />
        <button class="button primary" type="button" onClick={() => setNew(true)}>
          <Icon name="plus" />
          New credential
        </button>
      </PageHead>
      <PagedTable
        caption="Operator credentials"
        pages={pages}
        keyOf={({ id }) => id}
        empty={
          <Empty title="There are no credentials yet">
            <p>Until there is one, every operator uses the bootstrap token, and the audit log cannot tell them apart.</p>
          </Empty>
        }
        columns={[
          { title: 'Name', wide: true, cell: ({ name }) => <b>{name}</b> },
          { title: 'Token', cell: ({ hint }) => <code>{hint}</code> },
          {
            title: 'State',
            cell: (credential) => <Badge tone={tones[stateOf(credential)]}>{stateOf(credential)}</Badge>,
          },
          { title: 'Last used', cell: ({ last_used_at: at }) => <Time at={at} /> },
          { title: 'Expires', cell: ({ expires_at: at }) => <Time at={at} /> },
          { title: 'Created', cell: ({ created_at: at }) => <Time at={at} /> },
          {
            title: 'Actions',
            align: 'end',
            cell: (credential) =>
              stateOf(credential) === 'active' && (
                <span class="row-actions">
                  <button class="button small" type="button" disabled={isBusy} onClick={() => void revoke(credential)}>
                    Revoke
                  </button>
                  <CurlButton
                    what="revoke this credential"
                    call={() => ['revokeOperatorCredential', { credentialId: credential.id }]}
                  />
                </span>
              ),
          },
        ]}
      />
      {isNew && (
        <CredentialForm
          onClose={() => setNew(false)}
          onMade={({ name, token }) => {
            setNew(false)
            pages.reload()
            showSecret({
              title: `The token of ${isolated(name)}`,
              text: 'It is sent as X-Admin-Token, and may do everything that an operator may. The server keeps only its hash.',
              secrets: [['Token', token]],
            })
          }}
        />
      )}
    </>
  )
}

const periods = [
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
  ['', 'Never'],
] as const

function CredentialForm({ onClose, onMade }: { onClose: () => void; onMade: (made: { name: string; token: string }) => void }) {
  const [name, setName] = useState('')
  const [days, setDays] = useState<(typeof periods)[number][0]>('90')
  // The same when the form is sent again: see Form.
  const [from] = useState(Date.now)
  const body = () => ({
    name,
    ...(days === '' ? {} : { expires_at: new Date(from + Number(days) * 86_400_000).toISOString() }),
  })
  return (
    <FormDialog
      title="New credential"
      action="Create the credential"
      onClose={onClose}
      curl={() => ['createOperatorCredential', { body: body() }]}
      onSubmit={async (idempotencyKey) => onMade((await api.createOperatorCredential({ body: body(), idempotencyKey })).data)}
    >
      <TextField
        label="Name"
        path="/name"
        required
        maxLength={60}
        value={name}
        onChange={setName}
        hint="Of the person or the program. Letters, digits, spaces and . _ @ -"
      />
      <SelectField label="Expires" path="/expires_at" value={days} options={periods} onChange={setDays} />
    </FormDialog>
  )
}

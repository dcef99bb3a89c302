import { useState } from 'preact/hooks'
import { api } from '../api/api.ts'
import type { Input } from '../api/curl.ts'
import { usePages } from '../api/use-pages.ts'
import { CopyText } from '../components/copy.tsx'
import { PagedTable } from '../components/data-table.tsx'
import { TextArea, TextField } from '../components/fields.tsx'
import { formatNumber, Time } from '../components/format.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { Icon } from '../components/icon.tsx'
import { Empty } from '../components/page-head.tsx'
import { confirm } from '../shell/confirm.tsx'
import { showToast } from '../shell/toast-store.ts'
import { parsePublicJwk } from './public-jwk.ts'

/** The keys of the tenant's blind tokens. */
export function Epochs({ issuer, mayPublish }: { issuer: string; mayPublish: boolean }) {
  const [isNew, setNew] = useState(false)
  const pages = usePages('epochs', async (page, signal) => {
    const { data, ...rest } = await api.listEpochs({ query: { limit: 200, ...page }, signal })
    // The list is public, and has the epochs of every issuer.
    return { ...rest, data: data.filter((epoch) => epoch.issuer === issuer) }
  })
  return (
    <>
      {mayPublish && (
        <div class="filters">
          <button class="button" type="button" onClick={() => setNew(true)}>
            <Icon name="plus" />
            Publish an epoch
          </button>
        </div>
      )}
      <PagedTable
        caption="Epochs"
        pages={pages}
        keyOf={({ epoch }) => epoch}
        empty={
          <Empty title="There are no epochs">
            <p>An epoch is the public key of a batch of blind tokens. The private key stays with you.</p>
          </Empty>
        }
        columns={[
          { title: 'Epoch', wide: true, cell: ({ epoch }) => <CopyText text={epoch} label="Copy the id" /> },
          { title: 'Value of a token', align: 'end', cell: ({ value }) => `${formatNumber(value)} credits` },
          { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
          { title: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
        ]}
      />
      {isNew && (
        <EpochForm
          onClose={() => setNew(false)}
          onPublished={() => {
            setNew(false)
            showToast('The epoch is published')
            pages.reload()
          }}
        />
      )}
    </>
  )
}

function EpochForm({ onClose, onPublished }: { onClose: () => void; onPublished: () => void }) {
  const [jwk, setJwk] = useState('')
  const [value, setValue] = useState('10')
  const [expires, setExpires] = useState('')
  const parsed = parsePublicJwk(jwk)
  const problem = typeof parsed === 'string' ? parsed : undefined
  const bodyOf = (key: Input<'publishEpoch'>['body']['public_key']) => ({
    public_key: key,
    value: Number(value),
    ...(expires === '' ? {} : { expires_at: `${expires}T23:59:59.999Z` }),
  })
  const publish = async (idempotencyKey: string) => {
    if (typeof parsed === 'string') return 'unsent'
    const isSure = await confirm({
      title: 'Publish the epoch?',
      text: (
        <p>
          Each token that its private key signs takes {formatNumber(Number(value))} credits from your balance
          {expires === '' ? ', without an end' : ` until the end of ${expires} (UTC)`}. An epoch cannot be changed or withdrawn.
        </p>
      ),
      action: 'Publish the epoch',
    })
    if (!isSure) return 'unsent'
    await api.publishEpoch({ body: bodyOf(parsed), idempotencyKey })
    return onPublished()
  }
  return (
    <FormDialog
      title="Publish an epoch"
      action="Publish"
      onClose={onClose}
      curl={() => ['publishEpoch', { body: bodyOf(typeof parsed === 'string' ? { kty: 'RSA', n: '', e: '' } : parsed) }]}
      onSubmit={publish}
    >
      <TextArea
        label="Public key (JWK)"
        path="/public_key"
        problem={problem}
        code
        required
        rows={6}
        maxLength={10_000}
        value={jwk}
        onChange={setJwk}
        hint={jwk === '' ? 'RSA, 2,048 to 4,096 bits. The private key stays with you.' : (problem ?? 'This is a public key.')}
      />
      <TextField
        label="Value of a token, in credits"
        path="/value"
        type="number"
        min={1}
        required
        value={value}
        onChange={setValue}
      />
      <TextField
        label="Last day (UTC)"
        path="/expires_at"
        type="date"
        value={expires}
        onChange={setExpires}
        hint="Without one, it does not expire."
      />
    </FormDialog>
  )
}

import { useState } from 'preact/hooks'
import { api } from '../api/api.ts'
import { useAction } from '../api/use-action.ts'
import { useQuery } from '../api/use-query.ts'
import { FailureNote } from '../components/failure.tsx'
import { TextField } from '../components/fields.tsx'
import { Time } from '../components/format.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { Loading } from '../components/loading.tsx'
import { confirm } from '../shell/confirm.tsx'

const providers = [
  ['openai', 'OpenAI'],
  ['anthropic', 'Anthropic'],
  ['google', 'Google'],
  ['openai_compatible', 'OpenAI-compatible'],
] as const
type Provider = (typeof providers)[number][0]

/** The tenant's own keys of model providers. They are sent once, and never come back. */
export function ProviderKeys() {
  const keys = useQuery('provider keys', async (signal) => (await api.getProviderKeys({ signal })).data)
  const [edited, setEdited] = useState<Provider>()
  const [isBusy, run] = useAction()
  const remove = async (provider: Provider, name: string) => {
    const isSure = await confirm({
      title: `Remove the key of ${name}?`,
      text: <p>Hosted agents that use its models stop answering.</p>,
      action: 'Remove the key',
    })
    if (!isSure) return
    await run(async () => {
      const { data } = await api.setProviderKeys({ body: { [provider]: null } })
      keys.set(() => data)
    }, 'The key is removed')
  }
  return (
    <section class="card">
      <h2>Model providers</h2>
      <p class="muted">Hosted agents answer with your own keys. They are sealed, and never shown again.</p>
      {keys.error !== undefined && <FailureNote error={keys.error} onRetry={keys.reload} />}
      {!keys.data && keys.error === undefined && <Loading />}
      {keys.data && (
        <ul class="lines">
          {providers.map(([provider, name]) => {
            const key = keys.data?.providers[provider]
            return (
              <li key={provider}>
                <b>{name}</b>
                {key ? (
                  <span class="muted">
                    <code>{key.hint}</code> {key.url} set <Time at={key.set_at} />
                  </span>
                ) : (
                  <span class="muted">no key</span>
                )}
                <span class="row-actions">
                  <button
                    class="button small"
                    type="button"
                    aria-label={`${key ? 'Replace' : 'Set'}: ${name}`}
                    onClick={() => setEdited(provider)}
                  >
                    {key ? 'Replace' : 'Set'}
                  </button>
                  {key && (
                    <button
                      class="button small"
                      type="button"
                      aria-label={`Remove: ${name}`}
                      disabled={isBusy}
                      onClick={() => void remove(provider, name)}
                    >
                      Remove
                    </button>
                  )}
                </span>
              </li>
            )
          })}
        </ul>
      )}
      {edited && (
        <KeyForm
          provider={edited}
          onClose={() => setEdited(undefined)}
          onSaved={(data) => {
            setEdited(undefined)
            keys.set(() => data)
          }}
        />
      )}
    </section>
  )
}

type Saved = Awaited<ReturnType<typeof api.setProviderKeys>>['data']

interface KeyFormProps {
  provider: Provider
  onClose: () => void
  onSaved: (keys: Saved) => void
}

function KeyForm({ provider, onClose, onSaved }: KeyFormProps) {
  const [key, setKey] = useState('')
  const [url, setUrl] = useState('')
  const isCompatible = provider === 'openai_compatible'
  const bodyWith = (secret: string) => ({ [provider]: isCompatible ? { url: url.trim(), key: secret } : secret })
  return (
    <FormDialog
      title={`Key of ${providers.find(([id]) => id === provider)?.[1]}`}
      action="Save the key"
      onClose={onClose}
      // The command has a name in place of the key, which belongs in no clipboard history.
      curl={() => ['setProviderKeys', { body: bodyWith('PROVIDER_KEY') }]}
      onSubmit={async () => onSaved((await api.setProviderKeys({ body: bodyWith(key.trim()) })).data)}
    >
      {isCompatible && (
        <TextField
          label="Base URL"
          path="/openai_compatible/url"
          type="url"
          value={url}
          onChange={setUrl}
          required
          hint="Such as https://models.example/v1."
        />
      )}
      <TextField
        label="Key"
        path={isCompatible ? '/openai_compatible/key' : `/${provider}`}
        type="password"
        value={key}
        onChange={setKey}
        required
        maxLength={500}
      />
    </FormDialog>
  )
}

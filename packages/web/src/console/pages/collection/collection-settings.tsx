import { useRef } from 'preact/hooks'
import { isolated } from '../../../space/text/format.ts'
import { api } from '../../api/api.ts'
import { may } from '../../api/roles.ts'
import { useAction } from '../../api/use-action.ts'
import { CurlButton } from '../../components/curl-button.tsx'
import { CheckField, SelectField, TextArea, TextField } from '../../components/fields.tsx'
import { Form } from '../../components/form.tsx'
import { useChanges } from '../../components/use-changes.ts'
import { Link, navigate } from '../../router/router.tsx'
import { confirm } from '../../shell/confirm.tsx'
import { useSecrets } from '../../shell/secrets.tsx'
import { showToast } from '../../shell/toast-store.ts'
import { titleOf } from '../collections.tsx'
import type { Collection } from './collection.tsx'

interface SettingsProps {
  collection: Collection
  onChange: (collection: Collection) => void
}

type Secrets = readonly (readonly [label: string, secret: string])[]

export function CollectionSettings({ collection, onChange }: SettingsProps) {
  const showSecret = useSecrets()
  if (!may('curate')) return <p class="muted">Your role reads collections, and does not change them.</p>
  const showTokens = (secrets: Secrets) =>
    showSecret({
      title: 'The new tokens',
      text: 'Your app needs them from now on: the old ones have ended. The server keeps only their hashes.',
      secrets,
    })
  return (
    <div class="stack">
      <TextsAndAccess collection={collection} onChange={onChange} onSecrets={showTokens} />
      <StateCard collection={collection} onChange={onChange} />
      {may('develop') && <TokensCard collection={collection} onSecrets={showTokens} />}
      <DeleteCard collection={collection} />
    </div>
  )
}

const themes = ['light', 'dark', 'paper', 'neon'] as const

type Values = Record<'share_title' | 'share_description' | 'theme', string> &
  Pick<Collection, 'contributor_policy' | 'item_access' | 'wall'>

function valuesOf({ metadata, contributor_policy, item_access, wall }: Collection): Values {
  const text = (name: string) => (typeof metadata[name] === 'string' ? metadata[name] : '')
  return {
    share_title: text('share_title'),
    share_description: text('share_description'),
    theme: text('theme'),
    contributor_policy,
    item_access,
    wall,
  }
}

/** null removes a field. */
function bodyOf({ share_title, share_description, theme, ...access }: Partial<Values>) {
  const texts = Object.entries({ share_title, share_description, theme }).filter(([, text]) => text !== undefined)
  return { metadata: Object.fromEntries(texts.map(([name, text]) => [name, text?.trim() || null])), ...access }
}

function TextsAndAccess({ collection, onChange, onSecrets }: SettingsProps & { onSecrets: (secrets: Secrets) => void }) {
  const { id, metadata } = collection
  const { values, changes, setter, forget } = useChanges(valuesOf(collection))
  const body = bodyOf(changes)
  const last = useRef({ request: '', count: 0 })
  const save = async (formKey: string) => {
    // Only a request that is sent twice in a row has the same key. If another one was sent in between, the answer of the
    // first one would be replayed, and the values of the other one would stay.
    const request = JSON.stringify(body)
    if (request !== last.current.request) last.current = { request, count: last.current.count + 1 }
    const idempotencyKey = `${formKey}.${last.current.count}`
    const { contributor_token: token, ...changed } = (await api.updateCollection({ id, body, idempotencyKey })).data
    forget(changes)
    onChange(changed)
    if (token !== undefined) onSecrets([['Contributor token', token]])
    showToast('Saved')
  }
  return (
    <Form
      class="card"
      onSubmit={save}
      foot={(isBusy) => (
        <>
          <CurlButton what="save" call={() => ['updateCollection', { id, collectionToken: '$COLLECTION_TOKEN', body }]} />
          <button class="button primary" type="submit" disabled={isBusy}>
            Save
          </button>
        </>
      )}
    >
      <h2>Pages and access</h2>
      <TextField
        label="Title"
        path="/metadata/share_title"
        value={values.share_title}
        onChange={setter('share_title')}
        maxLength={200}
        hint="Shown on the share page and the wall."
      />
      <TextArea
        label="Description"
        path="/metadata/share_description"
        value={values.share_description}
        onChange={setter('share_description')}
        rows={2}
        maxLength={1_000}
      />
      {typeof metadata['theme'] === 'object' ? (
        <p class="hint">The theme is an object of CSS colours, which the API sets.</p>
      ) : (
        <SelectField
          label="Theme"
          path="/metadata/theme"
          value={values.theme}
          onChange={setter('theme')}
          options={[['', 'Default'], ...themes.map((name) => [name, name] as const)]}
        />
      )}
      <SelectField
        label="Who may add items"
        path="/contributor_policy"
        value={values.contributor_policy}
        onChange={setter('contributor_policy')}
        options={[
          ['open', 'Every visitor of the app'],
          ['token', 'Holders of the contributor token'],
        ]}
      />
      <SelectField
        label="Who sees new items"
        path="/item_access"
        value={values.item_access}
        onChange={setter('item_access')}
        options={[
          ['owner', 'Only the owner'],
          ['open', 'Everyone with the publishable key'],
        ]}
      />
      <CheckField
        path="/wall"
        label="Show the open items on a wall that anyone with the link can open"
        checked={values.wall}
        onChange={setter('wall')}
      />
    </Form>
  )
}

const next = { open: ['ready', 'closed'], ready: ['closed'], closed: [] } as const
const stateWords = {
  ready: ['Make it ready', 'No more items are added. The app shows what it has made of them.'],
  closed: ['Close it', 'The collection is finished. It stays readable.'],
} as const

function StateCard({ collection, onChange }: SettingsProps) {
  const { id, state } = collection
  const [isBusy, run] = useAction()
  const advance = async (to: 'ready' | 'closed') => {
    const isSure = await confirm({
      title: `${stateWords[to][0]}?`,
      text: <p>{stateWords[to][1]} A collection never goes back to an earlier state.</p>,
      action: stateWords[to][0],
    })
    if (!isSure) return
    const body = { state: to }
    if (await run(async () => void (await api.setCollectionState({ id, body })), `The collection is ${to}`))
      onChange({ ...collection, state: to })
  }
  return (
    <section class="card">
      <h2>State</h2>
      <p class="muted">
        The collection is <b>{state}</b>. States go forward: open, ready, closed.
      </p>
      <div class="row-actions">
        {next[state].map((to) => (
          <span key={to} class="row-actions">
            <button class="button" type="button" disabled={isBusy} onClick={() => void advance(to)}>
              {stateWords[to][0]}
            </button>
            <CurlButton
              what={stateWords[to][0]}
              call={() => ['setCollectionState', { id, collectionToken: '$COLLECTION_TOKEN', body: { state: to } }]}
            />
          </span>
        ))}
      </div>
    </section>
  )
}

function TokensCard({ collection, onSecrets }: { collection: Collection; onSecrets: (secrets: Secrets) => void }) {
  const { id } = collection
  const [isBusy, run] = useAction()
  const kinds = [
    ['admin_token', 'Owner token'],
    ...(collection.contributor_policy === 'token' ? [['contributor_token', 'Contributor token'] as const] : []),
  ] as const
  const rotate = async (kind: 'admin_token' | 'contributor_token', label: string) => {
    const isSure = await confirm({
      title: `Rotate the ${label.toLowerCase()}?`,
      text: <p>The old one ends at once. Every app that uses it needs the new one.</p>,
      action: 'Rotate',
    })
    if (!isSure) return
    await run(async () => {
      const { data } = await api.rotateCollectionTokens({ id, body: { rotate: [kind] } })
      const token = data[kind]
      if (token !== undefined) onSecrets([[label, token]])
    })
  }
  return (
    <section class="card">
      <h2>Tokens</h2>
      <p class="muted">The server keeps only hashes of the tokens. One that is lost is replaced.</p>
      <div class="row-actions">
        {kinds.map(([kind, label]) => (
          <button key={kind} class="button" type="button" disabled={isBusy} onClick={() => void rotate(kind, label)}>
            Rotate the {label.toLowerCase()}
          </button>
        ))}
        <CurlButton
          what="rotate the owner token"
          call={() => ['rotateCollectionTokens', { id, body: { rotate: ['admin_token'] } }]}
        />
      </div>
    </section>
  )
}

function DeleteCard({ collection: { id, metadata, item_count } }: { collection: Collection }) {
  const [isBusy, run] = useAction()
  const remove = async () => {
    const isSure = await confirm({
      title: `Delete ${isolated(titleOf(metadata))}?`,
      text: (
        <p>
          The collection, its artifacts and all its items are deleted permanently, including archived items and items that are not
          approved. Visitors currently see {item_count} items.
        </p>
      ),
      action: 'Delete the collection',
      typed: 'delete',
    })
    if (!isSure) return
    if (await run(async () => void (await api.deleteCollection({ id })), 'The collection is deleted')) navigate('/collections')
  }
  return (
    <section class="card">
      <h2>Delete</h2>
      <p class="muted">
        Export the items first if you need them: on the page <Link to={`/collections/${id}`}>Items</Link>.
      </p>
      <div>
        <button class="button danger" type="button" disabled={isBusy} onClick={() => void remove()}>
          Delete the collection
        </button>
      </div>
    </section>
  )
}

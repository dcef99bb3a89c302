import type { EventType } from '@atrium/contract/event-types'
import { useState } from 'preact/hooks'
import { type api, currentSession } from '../api/api.ts'
import { CheckField, CheckGroup, TextField } from '../components/fields.tsx'
import { FormDialog } from '../components/form-dialog.tsx'

export type Endpoint = Awaited<ReturnType<typeof api.getWebhookEndpoint>>['data']
type Body = Parameters<typeof api.createWebhookEndpoint>[0]['body']

/** The types that the form offers. A list of its own, because that of the contract brings its schemas with it. */
export const allTypes: readonly EventType[] = [
  'item.created',
  'item.updated',
  'item.deleted',
  'collection.created',
  'collection.updated',
  'collection.state_changed',
  'collection.deleted',
  'artifact.ready',
  'artifact.failed',
  'artifact.published',
  'artifact.deleted',
  'session.started',
  'session.joined',
  'session.paused',
  'session.stopped',
  'session.failed',
  'wallet.redeemed',
  'coupon.granted',
  'checkout.paid',
  'checkout.refunded',
  'checkout.recovered',
  'checkout.reinstated',
  'key.created',
  'key.revoked',
  'key.leaked',
  'key.expiring',
  'member.added',
  'member.removed',
  'webhook.disabled',
  'tenant.status_changed',
]

function addressHint(): string {
  const hint = 'https, with a public host.'
  return currentSession().development ? `${hint} A development installation can also allow http to this machine.` : hint
}

interface WebhookFormProps {
  /** Absent: a new one. */
  endpoint: Endpoint | undefined
  onClose: () => void
  onSave: (body: Body, idempotencyKey: string) => Promise<void>
}

/** The address and what is sent there. Without a choice of events, every type is sent. */
export function WebhookForm({ endpoint, onClose, onSave }: WebhookFormProps) {
  const [url, setUrl] = useState(endpoint?.url ?? '')
  const [description, setDescription] = useState(endpoint?.description ?? '')
  const [events, setEvents] = useState<readonly EventType[]>(
    endpoint && endpoint.events.length < allTypes.length ? endpoint.events : [],
  )
  const chosen = events.length === 0 ? (endpoint ? { events: null } : {}) : { events: [...events] }
  const said = description.trim()
  const body = { url: url.trim(), ...chosen, ...(endpoint || said !== '' ? { description: said || null } : {}) } as Body
  return (
    <FormDialog
      title={endpoint ? 'Edit the endpoint' : 'New endpoint'}
      action={endpoint ? 'Save' : 'Add the endpoint'}
      onClose={onClose}
      curl={() => (endpoint ? ['updateWebhookEndpoint', { id: endpoint.id, body }] : ['createWebhookEndpoint', { body }])}
      onSubmit={(idempotencyKey) => onSave(body, idempotencyKey)}
    >
      <TextField label="Address" type="url" value={url} onChange={setUrl} required path="/url" hint={addressHint()} />
      <TextField
        label="Description"
        value={description}
        onChange={setDescription}
        maxLength={200}
        path="/description"
        hint="For people. May be empty."
      />
      <CheckGroup class="checks" legend="Events (none: every type)" path="/events">
        {allTypes.map((type) => (
          <CheckField
            key={type}
            label={type}
            path={null}
            checked={events.includes(type)}
            onChange={(isChosen) => setEvents(isChosen ? [...events, type] : events.filter((one) => one !== type))}
          />
        ))}
      </CheckGroup>
    </FormDialog>
  )
}

import type { EventType } from '@atrium/contract/event-types'
import { type api, currentSession } from '../api/api.ts'
import { CheckField, CheckGroup, TextField } from '../components/fields.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { useChanges } from '../components/use-changes.ts'

export type Endpoint = Awaited<ReturnType<typeof api.getWebhookEndpoint>>['data']
type NewEndpoint = Parameters<typeof api.createWebhookEndpoint>[0]['body']
export type EndpointPatch = Parameters<typeof api.updateWebhookEndpoint>[0]['body']

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

type WebhookFormProps = { onClose: () => void } & (
  | { /** A new one. */ endpoint: undefined; onSave: (body: NewEndpoint, idempotencyKey: string) => Promise<void> }
  | { endpoint: Endpoint; onSave: (body: EndpointPatch) => Promise<void> }
)

interface Values {
  url: string
  description: string
  /** Empty: every type. */
  events: readonly EventType[]
}

function newEndpointOf({ url, description, events }: Values): NewEndpoint {
  const said = description.trim()
  return {
    url: url.trim(),
    ...(said !== '' && { description: said }),
    ...(events.length > 0 && { events: [...events] }),
  }
}

function patchOf({ url, description, events }: Partial<Values>): EndpointPatch {
  return {
    ...(url !== undefined && { url: url.trim() }),
    ...(description !== undefined && { description: description.trim() || null }),
    ...(events && { events: events.length === 0 ? null : [...events] }),
  }
}

/** The address and what is sent there. Without a choice of events, every type is sent. */
export function WebhookForm(props: WebhookFormProps) {
  const { endpoint, onClose } = props
  const { values, changes, setter } = useChanges<Values>({
    url: endpoint?.url ?? '',
    description: endpoint?.description ?? '',
    events: endpoint && endpoint.events.length < allTypes.length ? endpoint.events : [],
  })
  const { url, description, events } = values
  return (
    <FormDialog
      title={endpoint ? 'Edit the endpoint' : 'New endpoint'}
      action={endpoint ? 'Save' : 'Add the endpoint'}
      onClose={onClose}
      curl={() =>
        endpoint
          ? ['updateWebhookEndpoint', { id: endpoint.id, body: patchOf(changes) }]
          : ['createWebhookEndpoint', { body: newEndpointOf(values) }]
      }
      onSubmit={(idempotencyKey) =>
        props.endpoint ? props.onSave(patchOf(changes)) : props.onSave(newEndpointOf(values), idempotencyKey)
      }
    >
      <TextField label="Address" type="url" value={url} onChange={setter('url')} required path="/url" hint={addressHint()} />
      <TextField
        label="Description"
        value={description}
        onChange={setter('description')}
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
            onChange={(isChosen) => setter('events')(isChosen ? [...events, type] : events.filter((one) => one !== type))}
          />
        ))}
      </CheckGroup>
    </FormDialog>
  )
}

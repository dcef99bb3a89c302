import { useState } from 'preact/hooks'
import { api } from '../api/api.ts'
import { may } from '../api/roles.ts'
import { useAction } from '../api/use-action.ts'
import { useQuery } from '../api/use-query.ts'
import { CopyText } from '../components/copy.tsx'
import { CurlButton } from '../components/curl-button.tsx'
import { Facts } from '../components/facts.tsx'
import { FailureNote } from '../components/failure.tsx'
import { Loading } from '../components/loading.tsx'
import { PageHead } from '../components/page-head.tsx'
import type { Params } from '../router/match-path.ts'
import { navigate } from '../router/router.tsx'
import { confirm } from '../shell/confirm.tsx'
import { showToast } from '../shell/toast-store.ts'
import { Deliveries } from './webhook-deliveries.tsx'
import { type EndpointPatch, WebhookForm } from './webhook-form.tsx'
import { readDeliveryHealth } from './webhook-health.ts'
import { EndpointState, eventsText, useWebhookSecret } from './webhooks.tsx'

/** One endpoint, and each delivery to it with its attempts. */
export function WebhookPage({ params: { id = '' } }: { params: Params }) {
  const endpoint = useQuery(`endpoint ${id}`, async (signal) => (await api.getWebhookEndpoint({ id, signal })).data)
  const [isEditing, setEditing] = useState(false)
  const [changes, setChanges] = useState(0)
  const showSigningSecret = useWebhookSecret()
  const [isBusy, run] = useAction()
  const mayChange = may('develop')
  const { data: found, error } = endpoint
  const up = { to: '/webhooks', title: 'Webhooks' }
  if (!found)
    return (
      <>
        <PageHead title="Endpoint" up={up} />
        {error === undefined ? <Loading /> : <FailureNote error={error} onRetry={endpoint.reload} />}
      </>
    )
  const save = async (body: EndpointPatch) => {
    const { secret: made, ...saved } = (await api.updateWebhookEndpoint({ id, body })).data
    endpoint.set(() => saved)
    setEditing(false)
    setChanges(changes + 1)
    showSigningSecret(made)
  }
  const edit = async (body: EndpointPatch) => {
    // Read before, because afterwards they are on their way. Without an answer, the message is the short one.
    const health = await readDeliveryHealth(id, AbortSignal.timeout(2_000)).catch(() => undefined)
    await save(body)
    const waits = found.enabled && health !== undefined && health.untried + health.retried > 0
    showToast(waits ? 'Saved. Deliveries that are due are being sent now. Retries scheduled for later are not moved.' : 'Saved')
  }
  const test = async () => {
    const { data } = await api.testWebhook({ body: { endpoint: id } })
    const answer = data.response_status === null ? (data.error ?? 'no answer') : `status ${data.response_status}`
    showToast(`${data.delivered ? 'Delivered' : 'Not delivered'}: ${answer}, ${data.duration_ms} ms`)
  }
  const remove = async () => {
    const text = 'What is queued for it is not sent any more. Its deliveries are no longer listed.'
    if (!(await confirm({ title: `Delete ${found.url}?`, text, action: 'Delete the endpoint' }))) return
    if (await run(async () => void (await api.deleteWebhookEndpoint({ id })), 'Deleted')) navigate('/webhooks')
  }
  return (
    <>
      <PageHead title={found.description ?? (id === 'default' ? 'Default endpoint' : new URL(found.url).host)} up={up}>
        {mayChange && (
          <>
            <CurlButton what="send a test event" call={() => ['testWebhook', { body: { endpoint: id } }]} />
            <button class="button" type="button" disabled={isBusy} onClick={() => void run(test)}>
              Send a test event
            </button>
            <button class="button primary" type="button" onClick={() => setEditing(true)}>
              Edit
            </button>
          </>
        )}
      </PageHead>
      <section class="card">
        <Facts
          facts={[
            ['Address', <code>{found.url}</code>],
            ['State', <EndpointState endpoint={found} isFull changes={changes} />],
            ['Events', eventsText(found.events)],
            ['Id', <CopyText text={found.id} label="Copy the id" />],
          ]}
        />
        {mayChange && (
          <div class="row-actions">
            <span class="joined">
              <button
                class="button small"
                type="button"
                disabled={isBusy}
                onClick={() => void run(() => save({ enabled: !found.enabled }), found.enabled ? 'Disabled' : 'Enabled')}
              >
                {found.enabled ? 'Disable' : 'Enable'}
              </button>
              <CurlButton
                what={found.enabled ? 'disable the endpoint' : 'enable the endpoint'}
                call={() => ['updateWebhookEndpoint', { id, body: { enabled: !found.enabled } }]}
              />
            </span>
            <span class="joined">
              <button
                class="button small"
                type="button"
                disabled={isBusy}
                onClick={() => void run(() => save({ rotate_secret: true }))}
              >
                Rotate the secret
              </button>
              <CurlButton
                what="rotate the secret"
                call={() => ['updateWebhookEndpoint', { id, body: { rotate_secret: true } }]}
              />
            </span>
            <span class="joined">
              <button class="button small danger" type="button" disabled={isBusy} onClick={() => void remove()}>
                Delete
              </button>
              <CurlButton what="delete the endpoint" call={() => ['deleteWebhookEndpoint', { id }]} />
            </span>
          </div>
        )}
      </section>
      <Deliveries id={id} enabled={found.enabled} changes={changes} />
      {isEditing && <WebhookForm endpoint={found} onClose={() => setEditing(false)} onSave={edit} />}
    </>
  )
}

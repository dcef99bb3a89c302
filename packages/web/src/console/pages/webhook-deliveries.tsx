import { useState } from 'preact/hooks'
import { api } from '../api/api.ts'
import { may } from '../api/roles.ts'
import { useAction } from '../api/use-action.ts'
import { usePages } from '../api/use-pages.ts'
import { LIVE_MS, usePolling } from '../api/use-polling.ts'
import { CopyText } from '../parts/copy.tsx'
import { CurlButton } from '../parts/curl-button.tsx'
import { PagedTable } from '../parts/data-table.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { CheckField, TextField } from '../parts/fields.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { Badge, Time } from '../parts/format.tsx'
import { Icon } from '../parts/icon.tsx'
import { Empty } from '../parts/page-head.tsx'
import { useShortcuts } from '../shell/shortcuts.tsx'
import { showToast } from '../shell/toast-store.ts'

const tones = { pending: 'warn', succeeded: 'good', failed: 'bad' } as const

type Delivery = Awaited<ReturnType<typeof api.listDeliveries>>['data'][number]

/** The list that `attempts` is with `endpoint` in the request. */
const attemptsOf = ({ attempts }: Delivery) => (typeof attempts === 'number' ? [] : attempts)

/** The deliveries to one endpoint. */
export function Deliveries({ id: endpoint, enabled }: { id: string; enabled: boolean }) {
  const pages = usePages(`deliveries ${endpoint}`, (page, signal) =>
    api.listDeliveries({ query: { limit: 50, endpoint, ...page }, signal }),
  )
  const [isBusy, run] = useAction()
  const [shown, setShown] = useState<Delivery>()
  const [isRecovering, setRecovering] = useState(false)
  usePolling(() => void pages.refresh(({ id }) => id), LIVE_MS)
  useShortcuts('Webhooks', [{ keys: 'r', label: 'Load the newest deliveries', run: pages.reload }])
  const mayChange = may('develop')
  const retried = pages.rows?.filter(({ status, last_attempt_at: at }) => status === 'pending' && at !== null).length ?? 0
  const resend = async (id: string) => {
    const query = { endpoint }
    if (await run(async () => void (await api.resendDelivery({ id, query })), 'It is sent again')) pages.reload()
  }
  return (
    <>
      <div class="card-head">
        <h2>Deliveries</h2>
        <span class="row-actions">
          {mayChange && enabled && (
            <button class="button small" type="button" onClick={() => setRecovering(true)}>
              Send failed ones again
            </button>
          )}
          <CurlButton what="list the deliveries" call={() => ['listDeliveries', { query: { limit: 50, endpoint } }]} />
          <button class="icon-button" type="button" aria-label="Load the newest deliveries" onClick={pages.reload}>
            <Icon name="refresh" />
          </button>
        </span>
      </div>
      {retried > 0 && (
        <p class="muted">
          <Badge tone="warn">failing</Badge>{' '}
          {retried === 1 ? 'One delivery of this list waits' : `${retried} deliveries of this list wait`} for another attempt,
          because earlier ones failed. After you have mended the endpoint, send them again at once.
        </p>
      )}
      <PagedTable
        caption="Deliveries"
        pages={pages}
        keyOf={({ id }) => id}
        empty={
          <Empty title="No event was sent yet">
            <p>A test event shows its answer at once, and is not listed here.</p>
          </Empty>
        }
        columns={[
          { title: 'Event', wide: true, cell: ({ type }) => <b>{type}</b> },
          { title: 'Status', cell: ({ status }) => <Badge tone={tones[status]}>{status}</Badge> },
          { title: 'Answer', cell: answerText },
          {
            title: 'Attempts',
            align: 'end',
            cell: (delivery) => {
              const { length } = attemptsOf(delivery)
              if (length === 0) return '—'
              return (
                <button class="button small" type="button" onClick={() => setShown(delivery)}>
                  {length}
                  <span class="unseen"> attempts: show them</span>
                </button>
              )
            },
          },
          {
            title: 'Next attempt',
            cell: ({ next_attempt_at: at }) => {
              if (at === null) return '—'
              // After failures the endpoint pauses, so the time of an attempt can pass without it.
              return Date.parse(at) > Date.now() ? <Time at={at} /> : 'after its pause'
            },
          },
          { title: 'Id', cell: ({ id }) => <CopyText text={id} label="Copy the id" short /> },
          { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
          {
            title: 'Actions',
            align: 'end',
            cell: ({ id }) =>
              mayChange && (
                <span class="row-actions">
                  <button class="button small" type="button" disabled={isBusy || !enabled} onClick={() => void resend(id)}>
                    Resend
                  </button>
                  <CurlButton what="resend this delivery" call={() => ['resendDelivery', { id, query: { endpoint } }]} />
                </span>
              ),
          },
        ]}
      />
      {shown && <Attempts delivery={shown} onClose={() => setShown(undefined)} />}
      {isRecovering && (
        <RecoverForm
          id={endpoint}
          onClose={() => setRecovering(false)}
          onDone={(queued) => {
            setRecovering(false)
            showToast(queuedText(queued))
            pages.reload()
          }}
        />
      )}
    </>
  )
}

function queuedText(queued: number): string {
  if (queued === 0) return 'There was nothing to send again'
  return queued === 1 ? 'One delivery is sent again' : `${queued} deliveries are sent again`
}

function answerText({ response_status: status, error }: Delivery): string {
  if (status === null) return error ?? '—'
  return error === null ? `${status}` : `${status}: ${error}`
}

function Attempts({ delivery, onClose }: { delivery: Delivery; onClose: () => void }) {
  return (
    <Dialog title={`Attempts of ${delivery.type}`} onClose={onClose} layout="side">
      <ol class="attempts">
        {attemptsOf(delivery)
          .toReversed()
          .map(({ at, status, ms, answer, error }) => (
            <li key={at}>
              <p>
                <Badge tone={error === null ? 'good' : 'bad'}>{status ?? 'no answer'}</Badge> <Time at={at} />, {ms} ms
              </p>
              {error !== null && <p>{error}</p>}
              {answer !== null && answer !== '' && (
                <pre class="json" tabIndex={0}>
                  {answer}
                </pre>
              )}
            </li>
          ))}
      </ol>
    </Dialog>
  )
}

/** `YYYY-MM-DDTHH:MM` in the time zone of the browser, as an input of that type takes it. */
function localText(timeMs: number): string {
  return new Date(timeMs - new Date(timeMs).getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

function RecoverForm({ id, onClose, onDone }: { id: string; onClose: () => void; onDone: (queued: number) => void }) {
  const [since, setSince] = useState(() => localText(Date.now() - 86_400_000))
  const [pending, setPending] = useState(true)
  const body = () => ({ since: new Date(since).toISOString(), pending })
  return (
    <FormDialog
      title="Send failed deliveries again"
      action="Send again"
      onClose={onClose}
      curl={() => ['recoverDeliveries', { id, body: body() }]}
      onSubmit={async () => onDone((await api.recoverDeliveries({ id, body: body() })).data.queued)}
    >
      <TextField
        label="Of events since"
        type="datetime-local"
        value={since}
        onChange={setSince}
        required
        hint="What succeeded is not sent again. Your server recognises a repeat by webhook-id."
      />
      <CheckField label="Also those that wait for their next attempt" checked={pending} onChange={setPending} />
    </FormDialog>
  )
}

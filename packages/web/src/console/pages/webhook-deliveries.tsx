import { useState } from 'preact/hooks'
import { api } from '../api/api.ts'
import { may } from '../api/roles.ts'
import { useAction } from '../api/use-action.ts'
import { usePages } from '../api/use-pages.ts'
import { LIVE_MS, usePolling, useReadsAfter } from '../api/use-polling.ts'
import { CopyText } from '../components/copy.tsx'
import { CurlButton } from '../components/curl-button.tsx'
import { PagedTable } from '../components/data-table.tsx'
import { SelectField } from '../components/fields.tsx'
import { Badge, Time } from '../components/format.tsx'
import { Icon } from '../components/icon.tsx'
import { Empty } from '../components/page-head.tsx'
import { useShortcuts } from '../shell/shortcuts.tsx'
import { showToast } from '../shell/toast-store.ts'
import { Attempts, attemptsOf } from './webhook-attempts.tsx'
import { answerText, stateOf } from './webhook-health.ts'
import { RecoverForm } from './webhook-recover-form.tsx'

const tones = { pending: 'plain', retrying: 'warn', succeeded: 'good', failed: 'bad' } as const
const states = [
  ['', 'Every status'],
  ['retrying', 'Retrying: failed, and tried again'],
  ['failed', 'Failed: given up'],
  ['pending', 'Pending: not tried yet'],
  ['succeeded', 'Succeeded'],
] as const

interface DeliveriesProps {
  id: string
  enabled: boolean
  /** Changes when the endpoint was changed, which sends what is due. */
  changes: number
}

/** The deliveries to one endpoint. */
export function Deliveries({ id: endpoint, enabled, changes }: DeliveriesProps) {
  const pages = usePages(`deliveries ${endpoint}`, (page, signal) =>
    api.listDeliveries({ query: { limit: 50, endpoint, ...page }, signal }),
  )
  const [isBusy, run] = useAction()
  const [shownId, setShownId] = useState<string>()
  const [state, setState] = useState<(typeof states)[number][0]>('')
  const [isRecovering, setRecovering] = useState(false)
  const refresh = () => pages.refresh(({ id }) => id)
  usePolling(refresh, LIVE_MS)
  const isSending = useReadsAfter(changes, refresh)
  useShortcuts('Webhooks', [{ keys: 'r', label: 'Load the newest deliveries', run: pages.reload }])
  const mayChange = may('develop')
  const rows = pages.rows?.filter((row) => state === '' || stateOf(row) === state)
  const shown = pages.rows?.find(({ id }) => id === shownId)
  const isFailing = pages.rows?.some((row) => stateOf(row) === 'retrying') === true
  // Older deliveries than those that are loaded may have failed too.
  const mayRecover = isFailing || pages.more !== undefined || pages.rows?.some(({ status }) => status === 'failed') === true
  const resend = async (id: string) => {
    const query = { endpoint }
    if (await run(async () => void (await api.resendDelivery({ id, query })), 'It is sent again')) pages.refreshAll()
  }
  return (
    <>
      <div class="card-head">
        <h2>Deliveries</h2>
        <span class="row-actions">
          {mayChange && enabled && mayRecover && (
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
      {isFailing && enabled && (
        <p class="muted">
          After five failures in a row, an endpoint gets one delivery at a time, with pauses of up to five minutes. The others are
          queued, and follow when it answers. After you have fixed it, send the failed ones again: that ends the pause.
        </p>
      )}
      {pages.rows && pages.rows.length > 0 && (
        <div class="filters">
          <SelectField label="Status" path={null} value={state} options={states} onChange={setState} />
        </div>
      )}
      <PagedTable
        caption="Deliveries"
        pages={{ ...pages, rows }}
        keyOf={({ id }) => id}
        empty={
          state === '' ? (
            <Empty title="No event was sent yet">
              <p>A test event shows its answer at once, and is not listed here.</p>
            </Empty>
          ) : (
            <Empty title={`None of the newest ${pages.rows?.length ?? 0} deliveries has this status`} />
          )
        }
        columns={[
          { title: 'Event', wide: true, cell: ({ type }) => <b>{type}</b> },
          {
            title: 'Status',
            cell: (row) => <Badge tone={tones[stateOf(row)]}>{stateOf(row)}</Badge>,
          },
          { title: 'Answer', cell: (row) => <span class="answer">{answerText(row)}</span> },
          {
            title: 'Attempts',
            align: 'end',
            cell: (delivery) => {
              const { length } = attemptsOf(delivery)
              return (
                <button class="button small" type="button" onClick={() => setShownId(delivery.id)}>
                  {length}
                  <span class="visually-hidden"> attempts: show them</span>
                </button>
              )
            },
          },
          {
            title: 'Next attempt',
            cell: ({ next_attempt_at: at }) => {
              if (at === null) return '–'
              // While the endpoint pauses, the time of an attempt passes without it.
              return isDue(at) ? isFailing || !enabled ? 'queued' : 'now' : <Time at={at} />
            },
          },
          { title: 'Id', cell: ({ id }) => <CopyText text={id} label="Copy the id" short /> },
          { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
          {
            title: 'Actions',
            align: 'end',
            cell: ({ id, next_attempt_at: at }) =>
              mayChange && (
                <button
                  class="button small"
                  type="button"
                  // What is on its way would arrive twice.
                  disabled={isBusy || !enabled || (isSending && at !== null && isDue(at))}
                  onClick={() => void resend(id)}
                >
                  Resend
                </button>
              ),
          },
        ]}
      />
      {shown && <Attempts delivery={shown} onClose={() => setShownId(undefined)} />}
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

const isDue = (at: string) => Date.parse(at) <= Date.now()

function queuedText(queued: number): string {
  if (queued === 0) return 'There was nothing to send again'
  return queued === 1 ? 'One delivery is sent again' : `${queued} deliveries are sent again`
}

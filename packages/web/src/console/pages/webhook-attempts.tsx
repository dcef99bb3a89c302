import { may } from '../api/roles.ts'
import { CurlButton } from '../components/curl-button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Badge, formatTime, Time } from '../components/format.tsx'
import type { Delivery } from './webhook-health.ts'

/** The list that `attempts` is with `endpoint` in the request. */
export const attemptsOf = ({ attempts }: Delivery) => (typeof attempts === 'number' ? [] : attempts)

/** The attempts of one delivery, the newest first. */
export function Attempts({ delivery, onClose }: { delivery: Delivery; onClose: () => void }) {
  const { id, endpoint, type } = delivery
  const attempts = attemptsOf(delivery).toReversed()
  return (
    <Dialog title={`Attempts of ${type}`} onClose={onClose} layout="side">
      <ol class="attempts">
        {attempts.length === 0 && <li class="muted">There was no attempt yet.</li>}
        {attempts.map(({ at, status, ms, answer, error }) => (
          <li key={at}>
            <p>
              <Badge tone={error === null ? 'good' : 'bad'}>{status ?? 'no answer'}</Badge> {formatTime(at)} (<Time at={at} />
              ), {ms} ms
            </p>
            {error !== null && <p>{error}</p>}
            {answer !== null && answer !== '' && (
              <pre class="json" tabIndex={0}>
                {answer}
              </pre>
            )}
          </li>
        ))}
        {may('develop') && (
          <li>
            <CurlButton what="resend this delivery" call={() => ['resendDelivery', { id, query: { endpoint } }]} isNamed />
          </li>
        )}
      </ol>
    </Dialog>
  )
}

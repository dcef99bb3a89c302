import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { api, currentSession } from '../api/api.ts'
import { personOf } from '../api/session.ts'
import { useAction } from '../api/use-action.ts'
import { usePolling } from '../api/use-polling.ts'
import { useQuery } from '../api/use-query.ts'
import { copyText } from '../components/copy.tsx'
import { CurlButton } from '../components/curl-button.tsx'
import { FailureNote } from '../components/failure.tsx'
import { Badge, formatNumber } from '../components/format.tsx'
import { Icon } from '../components/icon.tsx'
import { Loading } from '../components/loading.tsx'
import { Store } from '../../space/store.ts'
import { useStore } from '../../space/use-store.ts'
import type { Agent } from './agent-form.tsx'
import { SessionTimeline, sessionTones } from './session-timeline.tsx'
import { TestRoomForm, type Trial } from './test-room-form.tsx'

const FOLLOW_MS = 2_000

/**
 * The trials of this page load, by agent. The link of a room and the control token are nowhere else, so that another
 * page can be looked at in between, and a reload forgets them.
 */
const trials = new Store<{ [agentId: string]: { trial: Trial; person: string } | undefined }>({})

/** Launches the agent into a new room, follows its stay and stops it. */
export function TestRoom({ agent }: { agent: Agent }) {
  const { id, status } = agent
  const kept = useStore(trials, (all) => all[id])
  const person = personOf(currentSession())
  // Another member may have signed in since, without a reload.
  const trial = kept?.person === person ? kept.trial : undefined
  const [isAsking, setAsking] = useState(false)
  return (
    <section class="card" aria-label="Try it in a test room">
      <div class="card-head">
        <h2>Try it in a test room</h2>
        {isLaunchable(status) && !trial && (
          <button class="button" type="button" onClick={() => setAsking(true)}>
            <Icon name="plus" />
            Try in a test room
          </button>
        )}
      </div>
      {trial ? (
        <RunningTrial key={trial.sessionId} trial={trial} onAgain={() => setAsking(true)} />
      ) : (
        <p class="muted">{isLaunchable(status) ? 'A new room, with you and the agent alone.' : reasons[status]}</p>
      )}
      {isAsking && (
        <TestRoomForm
          agent={agent}
          onClose={() => setAsking(false)}
          onLaunched={(launched) => {
            setAsking(false)
            trials.update({ [id]: { trial: launched, person } })
          }}
        />
      )}
    </section>
  )
}

const reasons = {
  draft: 'A draft cannot be launched. Make the agent private above: then only this tenant launches it.',
  suspended: 'A suspended agent cannot be launched.',
  pending: 'The agent cannot be launched before an operator has checked it.',
} as const

function isLaunchable(status: Agent['status']): status is Exclude<Agent['status'], keyof typeof reasons> {
  return !(status in reasons)
}

function RunningTrial({ trial, onAgain }: { trial: Trial; onAgain: () => void }) {
  const { sessionId: id, controlToken, roomUrl } = trial
  const { data, error, reload, refresh } = useQuery(
    `trial ${id}`,
    async (signal) => (await api.getSession({ id, controlToken, signal })).data,
  )
  const [isBusy, run] = useAction()
  const isOver = data !== undefined && data.stopped_at !== null
  usePolling(() => {
    if (!isOver) refresh()
  }, FOLLOW_MS)
  // The dialog is gone by now, and with it the button that had the focus.
  const room = useRef<HTMLAnchorElement>(null)
  useLayoutEffect(() => room.current?.focus(), [])
  const stop = () =>
    void run(async () => {
      await api.stopSession({ id, controlToken })
      reload()
    }, 'The agent was sent away')
  return (
    <>
      <div class="row-actions">
        <a ref={room} class="button primary" href={roomUrl} target="_blank" rel="noopener noreferrer">
          Open the room
        </a>
        <button class="button" type="button" onClick={() => void copyText(roomUrl, 'Copied. Whoever has the link reads along.')}>
          <Icon name="copy" />
          Copy its link
        </button>
        {isOver ? (
          <button class="button" type="button" onClick={onAgain}>
            Try again
          </button>
        ) : (
          <>
            <button class="button" type="button" disabled={isBusy} onClick={stop}>
              Stop the agent
            </button>
            <CurlButton what="stop the agent" call={() => ['stopSession', { id, controlToken: '$CONTROL_TOKEN' }]} />
          </>
        )}
      </div>
      <p class="muted">
        The link has the key of the room. It is on this page until the console is reloaded or closed, and stored nowhere.
      </p>
      {error !== undefined && <FailureNote error={error} onRetry={reload} />}
      {data ? (
        <>
          <p role="status">
            <Badge tone={sessionTones[data.status]}>{data.status}</Badge>{' '}
            {isOver
              ? `${formatNumber(data.charged_credits)} of ${formatNumber(data.price_credits)} credits were charged.`
              : `${formatNumber(data.price_credits)} credits are held.`}
            {data.error && ` ${data.error.code}: ${data.error.message}`}
          </p>
          <SessionTimeline session={data} />
        </>
      ) : (
        error === undefined && <Loading lines={2} />
      )}
    </>
  )
}

import type { api } from '../api/api.ts'
import { formatNumber, formatTime } from '../components/format.tsx'

export type Session = Awaited<ReturnType<typeof api.listSessions>>['data'][number]

export const sessionTones = {
  armed: 'plain',
  launching: 'warn',
  running: 'good',
  paused: 'warn',
  stopping: 'warn',
  stopped: 'plain',
  failed: 'bad',
  expired: 'plain',
} as const satisfies Record<Session['status'], string>

/** What happened in one stay, in order. */
export function SessionTimeline({ session }: { session: Session }) {
  const { created_at, joined_at, stopped_at, expires_at, price_credits: held, status } = session
  const steps: readonly (readonly [at: string | null, text: string])[] = [
    [
      created_at,
      status === 'armed'
        ? 'Prepared. It waits for its summon key.'
        : `Launched. ${formatNumber(held)} credits were held for the price.`,
    ],
    [joined_at, 'The agent joined the room. From here on the price is due.'],
    [stopped_at, ending(session)],
    [stopped_at === null ? expires_at : null, 'It ends here at the latest.'],
  ]
  return (
    <ol class="timeline">
      {steps.map(
        ([at, text]) =>
          at !== null && (
            <li key={text}>
              <time dateTime={at}>{formatTime(at)}</time>
              <p>{text}</p>
            </li>
          ),
      )}
    </ol>
  )
}

function ending({ status, charged_credits: charged, error, joined_at }: Session): string {
  const paid = charged > 0 ? `${formatNumber(charged)} credits were charged.` : 'Nothing was charged: the credits went back.'
  if (status === 'failed') return `It failed: ${error?.message.replace(/\.$/, '') ?? 'no reason was recorded'}. ${paid}`
  if (joined_at === null) return `It ended before the agent joined. ${paid}`
  return status === 'expired' ? `Its time was over. ${paid}` : `It was stopped. ${paid}`
}

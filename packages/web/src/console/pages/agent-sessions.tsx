import { followStream } from '@atrium/client/follow-stream'
import { useState } from 'preact/hooks'
import { api } from '../api/api.ts'
import { useLive } from '../api/use-live.ts'
import { usePages } from '../api/use-pages.ts'
import { CopyText, shortId } from '../parts/copy.tsx'
import { CurlButton } from '../parts/curl-button.tsx'
import { PagedTable } from '../parts/data-table.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Facts } from '../parts/facts.tsx'
import { SelectField } from '../parts/fields.tsx'
import { Badge, formatNumber, formatTime, Time } from '../parts/format.tsx'
import { Empty, PageHead } from '../parts/page-head.tsx'
import { Link, useSearch } from '../router/router.tsx'
import { useShortcuts } from '../shell/shortcuts.tsx'

type Session = Awaited<ReturnType<typeof api.listSessions>>['data'][number]
type Status = Session['status']

const tones = {
  armed: 'plain',
  launching: 'warn',
  running: 'good',
  paused: 'warn',
  stopping: 'warn',
  stopped: 'plain',
  failed: 'bad',
  expired: 'plain',
} as const satisfies Record<Status, string>

const options: readonly (readonly [Status | '', string])[] = [
  ['', 'Every status'],
  ...(Object.keys(tones) as Status[]).map((status) => [status, status] as const),
]

/** The stays of agents in rooms that the tenant launched. */
export function AgentSessions() {
  const [search, change] = useSearch()
  const status = (search.get('status') ?? '') as Status | ''
  const agent = search.get('agent') ?? ''
  const query = {
    limit: 50,
    ...(status in tones ? { status: status as Status } : {}),
    ...(agent === '' ? {} : { agent_id: agent }),
  }
  const pages = usePages(`sessions ${JSON.stringify(query)}`, (page, signal) =>
    api.listSessions({ query: { ...query, ...page }, signal }),
  )
  const [opened, setOpened] = useState<Session>()
  const fresh = useLive('events', 'session.started', (signal) => followStream(api.streamEvents, { signal }))
  const refresh = () => {
    fresh.clear()
    pages.reload()
  }
  useShortcuts('Sessions', [{ keys: 'r', label: 'Load the newest sessions', run: refresh }])
  return (
    <>
      <PageHead title="Sessions" lead="Each stay of an agent in a room: when it joined, why it ended, and what it cost.">
        <CurlButton what="list the sessions" call={() => ['listSessions', { query }]} />
      </PageHead>
      <div class="filters">
        <SelectField label="Status" value={status} options={options} onChange={(value) => change({ status: value })} />
        {agent !== '' && (
          <button class="button" type="button" onClick={() => change({ agent: undefined })}>
            Only {shortId(agent)}: show all
          </button>
        )}
      </div>
      {fresh.count > 0 && (
        <button class="button wide" type="button" onClick={refresh}>
          {fresh.count} new {fresh.count === 1 ? 'session' : 'sessions'}: show
        </button>
      )}
      <PagedTable
        caption="Sessions"
        pages={pages}
        keyOf={({ id }) => id}
        empty={
          <Empty title={status === '' && agent === '' ? 'There are no sessions yet' : 'No session matches'}>
            <p>A session begins when someone invites an agent into a room with a coupon.</p>
          </Empty>
        }
        columns={[
          {
            title: 'Session',
            wide: true,
            cell: (session) => (
              <button class="row-button" type="button" onClick={() => setOpened(session)}>
                {session.room}
              </button>
            ),
          },
          { title: 'Status', cell: ({ status }) => <Badge tone={tones[status]}>{status}</Badge> },
          { title: 'Agent', cell: ({ agent_id }) => <Link to={`/agents/${agent_id}`}>{shortId(agent_id)}</Link> },
          { title: 'Charged', align: 'end', cell: (session) => charge(session) },
          { title: 'Stay', align: 'end', cell: (session) => stay(session) },
          { title: 'Launched', cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
      {opened && <SessionDialog session={opened} onClose={() => setOpened(undefined)} />}
    </>
  )
}

function charge({
  price_credits: price,
  budget_credits: budget = 0,
  charged_credits: charged,
  stopped_at,
  status,
}: Session): string {
  if (status === 'armed') return '—'
  const held = price + budget
  return stopped_at === null ? `${formatNumber(held)} held` : `${formatNumber(charged)} of ${formatNumber(held)}`
}

/** What was used of the budget; undefined: the session has none. */
function budgetOf({
  budget_credits,
  used_credits = 0,
  used_tokens = 0,
  used_tool_calls = 0,
  status,
}: Session): string | undefined {
  if (budget_credits === undefined) return undefined
  const use = `${formatNumber(used_tokens)} tokens, ${formatNumber(used_tool_calls)} tool calls`
  const paused = status === 'paused' ? ' The agent waits for a top-up.' : ''
  return `${formatNumber(budget_credits)} credits held, ${formatNumber(used_credits)} used: ${use}.${paused}`
}

function stay({ joined_at, stopped_at }: Session): string {
  if (joined_at === null) return '—'
  const seconds = Math.round(((stopped_at === null ? Date.now() : Date.parse(stopped_at)) - Date.parse(joined_at)) / 1_000)
  return seconds < 60 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
}

/** What happened in one stay, in order. */
function SessionDialog({ session, onClose }: { session: Session; onClose: () => void }) {
  const { created_at, joined_at, stopped_at, expires_at, error, charged_credits: charged, price_credits: held, status } = session
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
    <Dialog title={`Session in ${session.room}`} layout="side" onClose={onClose}>
      <div class="dialog-body">
        <Facts
          facts={[
            ['Id', <CopyText text={session.id} label="Copy the id" />],
            ['Status', <Badge tone={tones[status]}>{status}</Badge>],
            ['Agent', <Link to={`/agents/${session.agent_id}`}>{session.agent_id}</Link>],
            ['Price', `${formatNumber(held)} credits`],
            ['Charged', `${formatNumber(charged)} credits`],
            ['Budget', budgetOf(session)],
            ['Longest stay', `${session.max_minutes} minutes`],
            ['Error', error && `${error.code}: ${error.message}`],
          ]}
        />
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
      </div>
    </Dialog>
  )
}

function ending({ status, charged_credits: charged, error, joined_at }: Session): string {
  const paid = charged > 0 ? `${formatNumber(charged)} credits were charged.` : 'Nothing was charged: the credits went back.'
  if (status === 'failed') return `It failed: ${error?.message ?? 'no reason was recorded'}. ${paid}`
  if (joined_at === null) return `It ended before the agent joined. ${paid}`
  return status === 'expired' ? `Its time was over. ${paid}` : `It was stopped. ${paid}`
}

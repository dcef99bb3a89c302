import { followStream } from '@atrium/client/follow-stream'
import { useState } from 'preact/hooks'
import { api } from '../api/api.ts'
import { useLive } from '../api/use-live.ts'
import { usePages } from '../api/use-pages.ts'
import { CopyText, shortId } from '../components/copy.tsx'
import { CurlButton } from '../components/curl-button.tsx'
import { PagedTable } from '../components/data-table.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Facts } from '../components/facts.tsx'
import { SelectField } from '../components/fields.tsx'
import { Badge, formatNumber, Time } from '../components/format.tsx'
import { Empty, PageHead } from '../components/page-head.tsx'
import { Link, useSearch } from '../router/router.tsx'
import { useShortcuts } from '../shell/shortcuts.tsx'
import { SessionTimeline, sessionTones, type Session } from './session-timeline.tsx'

type Status = Session['status']

const options: readonly (readonly [Status | '', string])[] = [
  ['', 'Every status'],
  ...(Object.keys(sessionTones) as Status[]).map((status) => [status, status] as const),
]

/** The stays of agents in rooms that the tenant launched. */
export function AgentSessions() {
  const [search, change] = useSearch()
  const status = (search.get('status') ?? '') as Status | ''
  const agent = search.get('agent') ?? ''
  const query = {
    limit: 50,
    ...(status in sessionTones ? { status: status as Status } : {}),
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
        <SelectField
          label="Status"
          path={null}
          value={status}
          options={options}
          onChange={(value) => change({ status: value })}
        />
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
          { title: 'Status', cell: ({ status }) => <Badge tone={sessionTones[status]}>{status}</Badge> },
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
  if (status === 'armed') return '–'
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
  if (joined_at === null) return '–'
  const seconds = Math.round(((stopped_at === null ? Date.now() : Date.parse(stopped_at)) - Date.parse(joined_at)) / 1_000)
  return seconds < 60 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
}

/** One stay: its price, and what happened in it. */
function SessionDialog({ session, onClose }: { session: Session; onClose: () => void }) {
  const { error, charged_credits: charged, price_credits: held, status } = session
  return (
    <Dialog title={`Session in ${session.room}`} layout="side" onClose={onClose}>
      <div class="dialog-body">
        <Facts
          facts={[
            ['Id', <CopyText text={session.id} label="Copy the id" />],
            ['Status', <Badge tone={sessionTones[status]}>{status}</Badge>],
            ['Agent', <Link to={`/agents/${session.agent_id}`}>{session.agent_id}</Link>],
            ['Price', `${formatNumber(held)} credits`],
            ['Charged', `${formatNumber(charged)} credits`],
            ['Budget', budgetOf(session)],
            ['Longest stay', `${session.max_minutes} minutes`],
            ['Error', error && `${error.code}: ${error.message}`],
          ]}
        />
        <SessionTimeline session={session} />
      </div>
    </Dialog>
  )
}

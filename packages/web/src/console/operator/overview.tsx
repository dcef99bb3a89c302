import { usePolling } from '../api/use-polling.ts'
import { useQuery } from '../api/use-query.ts'
import { FailureNote } from '../components/failure.tsx'
import { formatNumber, Time } from '../components/format.tsx'
import { Icon } from '../components/icon.tsx'
import { Loading } from '../components/loading.tsx'
import { PageHead } from '../components/page-head.tsx'
import { Link } from '../router/router.tsx'
import { type Health, loadHealth, problemsOf, type Process } from './health.ts'

/** Whether the installation is well, and what is not. */
export function OperatorOverview() {
  const { data, error, reload, refresh } = useQuery('health', loadHealth)
  usePolling(refresh, 10_000)
  return (
    <>
      <PageHead title="Overview" lead="The state of the installation, read again every ten seconds." />
      {error !== undefined && <FailureNote error={error} onRetry={reload} />}
      {data ? <State health={data} /> : error === undefined && <Loading lines={6} />}
    </>
  )
}

function State({ health }: { health: Health }) {
  const { queues, processes, proof, space, versions } = health
  const problems = problemsOf(health)
  const running = processes.filter(({ state }) => state === 'running')
  const count = (role: Process['role']) => running.filter((one) => one.role === role).length
  const waiting = queues.queues.reduce((sum, { depth }) => sum + depth, 0)
  return (
    <>
      {problems.length > 0 ? (
        <section class="card attention" aria-labelledby="attention">
          <h2 id="attention">Needs attention</h2>
          <ul>
            {problems.map(({ text, to }) => (
              <li key={text}>
                <Icon name="warning" />
                <Link to={to}>{text}</Link>
              </li>
            ))}
          </ul>
        </section>
      ) : (
        <section class="card">
          <h2>Nothing needs attention</h2>
          <p class="muted">Queues, periodic tasks, processes, ledger, Space and migrations are as they should be.</p>
        </section>
      )}
      <div class="tiles">
        <Tile title="Processes" to="/system" value={formatNumber(running.length)}>
          {count('api')} API, {count('worker') === 1 ? '1 job worker' : `${count('worker')} job workers`}
        </Tile>
        <Tile title="Waiting in queues" to="/system" value={formatNumber(waiting)}>
          entries that are due
        </Tile>
        <Tile title="Credits in circulation" to="/ledger" value={proof ? formatNumber(proof.credits) : '–'}>
          {proof ? (
            <>
              audited <Time at={proof.proved_at} />
            </>
          ) : (
            'not audited yet'
          )}
        </Tile>
        <Tile title="Space" to="/space" value={space.state}>
          {space.certificate?.git_commit ? `commit ${space.certificate.git_commit.slice(0, 12)}` : space.url}
        </Tile>
        <Tile title="Release" to="/versions" value={versions.release}>
          PostgreSQL {versions.postgresql.split(' ')[0]}
        </Tile>
      </div>
    </>
  )
}

interface TileProps {
  title: string
  value: string
  to: string
  children: preact.ComponentChildren
}

function Tile({ title, value, to, children }: TileProps) {
  return (
    <section class="card tile">
      <h2>
        <Link to={to} class="quiet">
          {title}
        </Link>
      </h2>
      <p class="big">{value}</p>
      <p>{children}</p>
    </section>
  )
}

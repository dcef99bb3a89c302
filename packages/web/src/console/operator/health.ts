import { formatNumber } from '../components/format.tsx'
import { api } from '../api/api.ts'

export type Queues = Awaited<ReturnType<typeof api.readQueues>>['data']
export type Process = Awaited<ReturnType<typeof api.listProcesses>>['data'][number]
export type Proof = Awaited<ReturnType<typeof api.readLedgerProof>>['data']['proof']
export type Space = Awaited<ReturnType<typeof api.readSpace>>['data']
export type Versions = Awaited<ReturnType<typeof api.readVersions>>['data']

export interface Health {
  queues: Queues
  processes: Process[]
  /** There are more processes than are read here. */
  hasMoreProcesses: boolean
  proof: Proof
  space: Space
  versions: Versions
}

const PAGE = 200
const MAX_PAGES = 10

/** More than one page, because killed processes stay listed for a day: they may be many, and newer than a running one. */
async function listProcesses(signal: AbortSignal): Promise<Pick<Health, 'processes' | 'hasMoreProcesses'>> {
  const processes: Process[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const query = { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) }
    const { data, nextCursor } = await api.listProcesses({ query, signal })
    processes.push(...data)
    if (nextCursor === undefined) return { processes, hasMoreProcesses: false }
    cursor = nextCursor
  }
  return { processes, hasMoreProcesses: true }
}

/** What an operator looks at first. The five reads are answered side by side. */
export async function loadHealth(signal: AbortSignal): Promise<Health> {
  const [queues, processes, ledger, space, versions] = await Promise.all([
    api.readQueues({ signal }),
    listProcesses(signal),
    api.readLedgerProof({ signal }),
    api.readSpace({ signal }),
    api.readVersions({ signal }),
  ])
  return {
    queues: queues.data,
    ...processes,
    proof: ledger.data.proof,
    space: space.data,
    versions: versions.data,
  }
}

/** An entry that waits for longer than this is a queue that nobody works on. */
const SLOW_SECONDS = 60

/** As many silent processes are named; of the others, only the number is shown. */
const NAMED_SILENT = 20

/** What is wrong, each with the page that shows more. Empty: nothing. */
export function problemsOf(health: Health): { text: string; to: string }[] {
  const { queues, processes, hasMoreProcesses, proof, space, versions } = health
  const silent = processes.filter(({ state }) => state === 'silent')
  const has = (role: Process['role']) => processes.some((one) => one.role === role && one.state === 'running')
  return [
    ...queues.queues
      .filter(({ oldest_seconds: oldest }) => oldest > SLOW_SECONDS)
      .map(({ name, depth, oldest_seconds: oldest }) => ({
        text: `${queueTitle(name)}: ${formatNumber(depth)} waiting, the oldest for ${formatSeconds(oldest)}`,
        to: '/system',
      })),
    ...queues.sweeps
      .filter((sweep) => sweep.late || isFailing(sweep))
      .map((sweep) => ({ text: `The task “${sweep.name}” ${sweep.late ? 'is late' : 'failed'}`, to: '/system' })),
    // During an upgrade, a process of the release before answers without it.
    ...(queues.log_stopped ? [{ text: `The transparency log signs nothing: ${queues.log_stopped}`, to: '/system' }] : []),
    ...silent
      .slice(0, NAMED_SILENT)
      .map(({ role, host, pid }) => ({ text: `A process is silent: ${role} ${pid} on ${host}`, to: '/system' })),
    ...(silent.length > NAMED_SILENT
      ? [
          {
            text: `${formatNumber(silent.length - NAMED_SILENT)}${hasMoreProcesses ? ' or more' : ''} other processes are silent`,
            to: '/system',
          },
        ]
      : []),
    ...(has('worker') || hasMoreProcesses
      ? []
      : [{ text: 'No job worker runs: agents, pictures and webhooks wait', to: '/system' }]),
    ...(proof && proof.findings > 0
      ? [{ text: `The ledger has ${formatNumber(proof.findings)} inconsistencies`, to: '/ledger' }]
      : []),
    ...(space.state === 'answering' ? [] : [{ text: `The Space service is ${space.state}`, to: '/space' }]),
    ...(versions.schema.pending.length > 0
      ? [{ text: `${versions.schema.pending.length} migrations or functions are not applied`, to: '/versions' }]
      : []),
  ]
}

/** Whether the last run of a periodic task failed. */
export function isFailing({ ran_at: ran, failed_at: failed }: Queues['sweeps'][number]): boolean {
  return failed !== null && (ran === null || failed > ran)
}

const titles: Record<Queues['queues'][number]['name'], string> = {
  artifact_jobs: 'Pictures and clips to make',
  blob_deletions: 'Files to delete',
  event_outbox: 'Events to number',
  sessions: 'Sessions to run',
  webhook_deliveries: 'Webhook deliveries',
}

export function queueTitle(name: Queues['queues'][number]['name']): string {
  return titles[name]
}

/** 90 as 1 min 30 s. */
export function formatSeconds(seconds: number): string {
  if (seconds < 1) return seconds === 0 ? '0 s' : 'less than 1 s'
  if (seconds < 60) return `${Math.round(seconds)} s`
  const whole = Math.round(seconds)
  const [large, small, rest] =
    whole < 3_600 ? (['min', 's', whole % 60] as const) : (['h', 'min', Math.floor((whole % 3_600) / 60)] as const)
  const count = Math.floor(whole / (whole < 3_600 ? 60 : 3_600))
  return rest === 0 ? `${count} ${large}` : `${count} ${large} ${rest} ${small}`
}

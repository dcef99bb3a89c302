import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { createTestDatabase } from '../packages/server/testing/test-database.ts'
import { startAtrium } from './support/atrium-process.ts'
import { askGood, makeCollection, makeTenant } from './support/call-api.ts'
import { skipWithout } from './support/skip-without.ts'

// promtool evaluates the rules over series of a few minutes or days. tests/faults/prometheus.test.ts lets some of them
// fire in a running Prometheus. Time begins at 0, so a time in the past is negative.

const rulesPath = fileURLToPath(new URL('../deploy/grafana/alerts.yaml', import.meta.url))
const day = 86_400

/** By series, its values a minute each, as promtool writes them: `1+2x3` is 1 3 5 7. */
type Series = Record<string, string>

interface Case {
  /** When it is evaluated. */
  at: string
  fires: Series
  /** Of the alert that fires, besides the severity. */
  labels?: Record<string, string>
  /** Series for which the alert does not fire, by what they show. */
  quiet: Record<string, Series>
  /** The interval between two values. Default: a minute. */
  every?: string
}

const seconds = 'atrium_http_request_duration_seconds_bucket{operation="addItem",role="api"'
const slow = (slowest: string): Series => ({
  [`${seconds},le="1"}`]: '0+90x30',
  [`${seconds},le="2.5"}`]: slowest,
  [`${seconds},le="+Inf"}`]: slowest,
})
const polls = Object.fromEntries(
  Object.entries(slow('0+100x30')).map(([series, values]) => [series.replace('addItem', 'callSpace'), values]),
)
const requests = 'atrium_http_requests_total{operation="addItem",role="api"'
const calls = (outcome: string) => `atrium_work_duration_seconds_count{work="model_call",outcome="${outcome}",role="worker"}`
const attempts = (outcome: string) =>
  `atrium_work_duration_seconds_count{work="webhook_delivery",outcome="${outcome}",role="worker"}`
const jobs = (outcome: string) => `atrium_work_duration_seconds_count{work="artifact_job",outcome="${outcome}",role="worker"}`
const on = (instance: string, series: string) => series.replace('{', `{instance="${instance}",`)

const cases: Record<string, Case> = {
  AtriumDown: {
    at: '5m',
    fires: { 'up{job="atrium",instance="a"}': '0x5' },
    labels: { job: 'atrium', instance: 'a' },
    quiet: { 'one scrape that failed': { 'up{job="atrium",instance="a"}': '1 1 1 1 0 1' } },
  },
  AtriumProcessSilent: {
    at: '10m',
    fires: { [on('a', 'atrium_processes{state="silent"}')]: '1x10', [on('b', 'atrium_processes{state="silent"}')]: '0x10' },
    labels: { instance: 'a' },
    quiet: {
      'one process that starts again': { [on('a', 'atrium_processes{state="silent"}')]: '0 0 0 0 0 0 0 1 1 0 0' },
      'all answer': { 'atrium_processes{state="answered"}': '4x10', 'atrium_processes{state="silent"}': '0x10' },
    },
  },
  AtriumErrors: {
    at: '15m',
    fires: { [`${requests},status="201"}`]: '0+970x15', [`${requests},status="500"}`]: '0+30x15' },
    quiet: {
      'one of two hundred': { [`${requests},status="201"}`]: '0+995x15', [`${requests},status="500"}`]: '0+5x15' },
      'no request': { [`${requests},status="500"}`]: '7x15' },
      'a restart': { [`${requests},status="201"}`]: '0+900x7 0+900x8', [`${requests},status="500"}`]: '50x7 0x8' },
    },
  },
  AtriumSlow: {
    at: '25m',
    fires: slow('0+100x30'),
    quiet: { 'fast answers': slow('0+90x30'), 'polls of Space, which wait': polls },
  },
  AtriumOverload: {
    at: '15m',
    fires: { 'atrium_overload_refusals_total{role="api"}': '0+1x15' },
    quiet: {
      'none since an hour ago': { 'atrium_overload_refusals_total{role="api"}': '900x15' },
      'a restart': { 'atrium_overload_refusals_total{role="api"}': '900x7 0x8' },
    },
  },
  AtriumConnectionsWaitedFor: {
    at: '10m',
    fires: { [on('a', 'atrium_db_connections{state="waited_for",role="api"}')]: '3x10' },
    labels: { instance: 'a', role: 'api' },
    quiet: {
      'a moment': { 'atrium_db_connections{state="waited_for",role="api"}': '0 9 0 0 9 0 0 0 9 0 0' },
      'busy connections': { 'atrium_db_connections{state="busy",role="api"}': '20x10' },
    },
  },
  AtriumRedisUnreachable: {
    at: '10m',
    fires: { [on('a', 'atrium_redis_unreachable{role="api"}')]: '0 1 0 1 0 1 0 1 0 1 0' },
    labels: { instance: 'a' },
    quiet: { 'one short break': { 'atrium_redis_unreachable{role="api"}': '0 0 0 0 0 0 1 0 0 0 0' } },
  },
  AtriumQueueStuck: {
    at: '30m',
    fires: { 'atrium_queue_oldest_seconds{queue="webhook_deliveries",role="worker"}': '0+60x30' },
    labels: { queue: 'webhook_deliveries' },
    quiet: {
      'a queue that is taken from': { 'atrium_queue_oldest_seconds{queue="sessions",role="worker"}': '0+60x14 0+60x16' },
      'an empty queue': { 'atrium_queue_oldest_seconds{queue="event_outbox",role="worker"}': '0x30' },
    },
  },
  AtriumNoWorker: {
    at: '15m',
    fires: { 'up{job="atrium",instance="a"}': '1x15' },
    quiet: {
      'one of two workers': {
        [on('a', 'atrium_queue_depth{queue="sessions",role="worker"}')]: '0x4 stale',
        [on('b', 'atrium_queue_depth{queue="sessions",role="worker"}')]: '0x15',
      },
    },
  },
  AtriumLedgerFindings: {
    at: '1m',
    fires: { 'atrium_ledger_findings{role="worker"}': '0 1' },
    quiet: { none: { 'atrium_ledger_findings{role="worker"}': '0 0' } },
  },
  AtriumLedgerNotAudited: {
    at: '80m',
    fires: { 'atrium_ledger_audited_timestamp_seconds{role="worker"}': '1x80' },
    quiet: {
      'audited each minute': { 'atrium_ledger_audited_timestamp_seconds{role="worker"}': '1+60x80' },
      'another process has just begun': {
        [on('a', 'atrium_ledger_audited_timestamp_seconds{role="api"}')]: '0x80',
        [on('b', 'atrium_ledger_audited_timestamp_seconds{role="worker"}')]: '1+60x80',
      },
    },
  },
  AtriumSweepStalled: {
    at: '20m',
    fires: {
      'atrium_sweep_last_run_timestamp_seconds{sweep="old events",role="worker"}': '-3600x20',
      'atrium_sweep_last_run_timestamp_seconds{sweep="old sessions",role="worker"}': '1+60x20',
    },
    labels: { sweep: 'old events' },
    quiet: {
      'another process ran it': {
        [on('a', 'atrium_sweep_last_run_timestamp_seconds{sweep="old events",role="worker"}')]: '-3600x20',
        [on('b', 'atrium_sweep_last_run_timestamp_seconds{sweep="old events",role="worker"}')]: '1+60x20',
      },
    },
  },
  AtriumWebhooksFailing: {
    at: '70m',
    fires: { [attempts('delivered')]: '0+2x70', [attempts('failed')]: '0+3x70' },
    quiet: {
      'half of them': { [attempts('delivered')]: '0+3x70', [attempts('failed')]: '0+3x70' },
      none: { [attempts('failed')]: '9x70' },
    },
  },
  AtriumModelCallsFailing: {
    at: '45m',
    fires: { [calls('done')]: '0+7x45', [calls('failed')]: '0+3x45' },
    quiet: {
      'one of ten': { [calls('done')]: '0+9x45', [calls('failed')]: '0+1x45' },
      'no call': { [calls('failed')]: '9x45' },
      'a restart': { [calls('done')]: '0+9x20 0+9x25', [calls('failed')]: '80x20 0x25' },
    },
  },
  AtriumArtifactsFailing: {
    at: '90m',
    fires: { [jobs('done')]: '0x90', [jobs('failed')]: '0+1x90' },
    quiet: { 'few of them': { [jobs('done')]: '0+5x90', [jobs('failed')]: '0+1x90' } },
  },
  AtriumEventLoopDelay: {
    at: '10m',
    fires: { [on('a', 'nodejs_eventloop_lag_p99_seconds{role="worker"}')]: '0.8x10' },
    labels: { instance: 'a', role: 'worker' },
    quiet: {
      'a moment': { 'nodejs_eventloop_lag_p99_seconds{role="api"}': '0.1 0.1 0.1 3 0.1 0.1 0.1 0.1 3 0.1 0.1' },
      'Space at rest': { 'atrium_space_event_loop_delay_p99_seconds{role="space"}': '0.02x10' },
    },
  },
  AtriumRateLimiting: {
    at: '40m',
    fires: {
      [`${requests},status="201"}`]: '0+100x40',
      'atrium_rate_limit_refusals_total{policy="address",role="api"}': '0+30x40',
    },
    quiet: {
      'one of ten': {
        [`${requests},status="201"}`]: '0+100x40',
        'atrium_rate_limit_refusals_total{policy="address",role="api"}': '0+10x40',
      },
    },
  },
  AtriumDatabaseGrowing: {
    at: '4h',
    every: '5m',
    // 1 GB an hour.
    fires: { 'atrium_database_size_bytes{role="worker"}': '100000000000+83333333x48' },
    quiet: {
      'by a tenth in a week': { 'atrium_database_size_bytes{role="worker"}': '100000000000+5000000x48' },
      'a small one': { 'atrium_database_size_bytes{role="worker"}': '10000000+20000x48' },
    },
  },
  AtriumDiskFilling: {
    at: '15m',
    fires: { 'atrium_blob_disk_free_bytes{role="worker"}': '9x15', 'atrium_blob_disk_size_bytes{role="worker"}': '100x15' },
    quiet: {
      'a fifth is free': {
        'atrium_blob_disk_free_bytes{role="worker"}': '20x15',
        'atrium_blob_disk_size_bytes{role="worker"}': '100x15',
      },
    },
  },
  AtriumRevocationSlow: {
    at: '1m',
    fires: { 'atrium_key_revocation_worst_seconds{role="api"}': '0.01 12' },
    quiet: { 'by the polling alone': { 'atrium_key_revocation_worst_seconds{role="api"}': '0.01 7.6' } },
  },
  AtriumSpaceErrors: {
    at: '15m',
    fires: {
      'atrium_space_requests_total{op="turn",outcome="ok",role="space"}': '0+90x15',
      'atrium_space_requests_total{op="turn",outcome="internal_error",role="space"}': '0+10x15',
    },
    quiet: {
      'refusals of callers': {
        'atrium_space_requests_total{op="turn",outcome="ok",role="space"}': '0+10x15',
        'atrium_space_requests_total{op="turn",outcome="not_authorized",role="space"}': '0+90x15',
      },
    },
  },
  AtriumSpaceFull: {
    at: '20m',
    fires: { 'atrium_space_stored_bytes{role="space"}': '86x20', 'atrium_space_max_bytes{role="space"}': '100x20' },
    quiet: {
      'half full': { 'atrium_space_stored_bytes{role="space"}': '50x20', 'atrium_space_max_bytes{role="space"}': '100x20' },
    },
  },
  AtriumSpaceCertificateOld: {
    at: '2h',
    fires: {
      [on('a', 'atrium_space_certificate_timestamp_seconds{role="space"}')]: `${-91 * day}x120`,
      [on('b', 'atrium_space_certificate_timestamp_seconds{role="space"}')]: '0x120',
    },
    quiet: { 'restarted last month': { 'atrium_space_certificate_timestamp_seconds{role="space"}': `${-30 * day}x120` } },
  },
}
// Space has metrics of its own.
const more: [string, Case][] = [
  [
    'AtriumConnectionsWaitedFor',
    {
      at: '10m',
      fires: { [on('a', 'atrium_space_db_connections_waited_for{role="space"}')]: '3x10' },
      labels: { instance: 'a', role: 'space' },
      quiet: {},
    },
  ],
  [
    'AtriumEventLoopDelay',
    {
      at: '10m',
      fires: { [on('a', 'atrium_space_event_loop_delay_p99_seconds{role="space"}')]: '0.8x10' },
      labels: { instance: 'a', role: 'space' },
      quiet: {},
    },
  ],
]

interface Rule {
  alert: string
  expr: string
  labels: Record<string, string>
  annotations: Record<string, string>
}

describe('alert rules', () => {
  let folder: string
  let rules: Rule[]
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atrium-alerts-'))
    await copyFile(rulesPath, join(folder, 'alerts.yaml'))
    const { groups } = parse(await readFile(rulesPath, 'utf8')) as { groups: { rules: Rule[] }[] }
    rules = groups.flatMap((group) => group.rules)
  })
  after(() => rm(folder, { recursive: true, force: true }))

  test('each has a case here', () => {
    assert.deepEqual(
      Object.keys(cases),
      rules.map(({ alert }) => alert),
    )
  })

  test('each fires on what it is for, and on nothing that looks like it', { skip: skipWithout('promtool') }, async () => {
    const tests = [...Object.entries(cases), ...more].flatMap(([alertname, { at, fires, labels, quiet, every = '1m' }]) => {
      const rule = rules.find(({ alert }) => alert === alertname)!
      const firing = { exp_labels: { ...rule.labels, ...labels }, exp_annotations: rule.annotations }
      return [{ series: fires, expected: [firing] }, ...Object.values(quiet).map((series) => ({ series, expected: [] }))].map(
        ({ series, expected }) => ({
          interval: every,
          input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
          alert_rule_test: [{ eval_time: at, alertname, exp_alerts: expected }],
        }),
      )
    })
    // JSON is YAML.
    const file = { rule_files: ['alerts.yaml'], evaluation_interval: '1m', tests }
    await writeFile(join(folder, 'tests.yaml'), JSON.stringify(file))
    await promisify(execFile)('promtool', ['test', 'rules', join(folder, 'tests.yaml')]).catch(({ stderr }: { stderr: string }) =>
      assert.fail(stderr),
    )
  })

  test('the series of the cases have the names and labels that the processes export', async (t) => {
    const database = await createTestDatabase()
    const atrium = await startAtrium({ databaseUrl: database.url, space: true })
    t.after(async () => {
      await atrium.end()
      await database.drop()
    })
    const { origin } = atrium
    const { publishable: key } = await makeTenant(origin)
    const { id, token } = await makeCollection(origin, key)
    const body = { prompt: 'A pier', size: '1024x1024' }
    await askGood(origin, `POST /v1/collections/${id}/paint`, { key, token, idempotencyKey: 'paint', body })
    await askGood(origin, 'POST /v1/space', { body: { op: 'attest' } })
    const waitFor = ['atrium_work_duration_seconds_count', 'atrium_sweep_last_run_timestamp_seconds', 'atrium_queue_depth']
    let exported: Map<string, Set<string>>
    do exported = labelsByName(await (await fetch(`${origin}/metrics`)).text())
    while (waitFor.some((name) => !exported.has(name)))
    // Nothing is refused here, so these have no series; the rest of their labels is in the documentation.
    exported.set('atrium_rate_limit_refusals_total', new Set(['policy', 'role']))
    // Prometheus itself makes it.
    exported.set('up', new Set(['job']))
    for (const [alert, { fires, quiet }] of [...Object.entries(cases), ...more])
      for (const series of [fires, ...Object.values(quiet)].flatMap(Object.keys)) {
        const [[name, labels] = ['', new Set()]] = [...labelsByName(`${series} 0`)]
        const expected = exported.get(name)
        assert.ok(expected, `${alert}: no process exports ${name}`)
        labels.delete('instance')
        assert.deepEqual([...labels].toSorted(), [...expected].toSorted(), `${alert}: the labels of ${name}`)
      }
  })
})

/** The names of the labels of each metric in Prometheus' text format. */
function labelsByName(text: string): Map<string, Set<string>> {
  const found = [...text.matchAll(/^([a-z_]\w*)(?:\{(.*)\})? [^ ]+$/gm)].map(
    ([, name = '', labels = '']) => [name, new Set([...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label))] as const,
  )
  return new Map(found)
}

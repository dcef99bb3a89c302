import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parser } from '@prometheus-io/lezer-promql'
import { parse } from 'yaml'
import { createTestDatabase } from '../packages/server/testing/test-database.ts'
import { startAtrium } from './support/atrium-process.ts'
import { until } from './support/embedded-installation.ts'
import { skipWithout } from './support/skip-without.ts'

const root = new URL('../', import.meta.url)
const rulesPath = 'deploy/grafana/alerts.yaml'
const read = (path: string) => readFile(new URL(path, root), 'utf8')

interface Rule {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { runbook_url: string; summary: string }
}

/** Prometheus itself makes these. */
const ofPrometheus = new Set(['up'])

describe('dashboard, alerts, runbooks and the list of metrics', () => {
  /** Type by name, as running processes of all roles declare them. */
  const exported = new Map<string, string>()
  let rules: Rule[]

  before(async () => {
    const database = await createTestDatabase()
    const atrium = await startAtrium({ databaseUrl: database.url, space: true })
    try {
      let text = ''
      const isWhole = async () => {
        text = await (await fetch(`${atrium.origin}/metrics`)).text()
        return /^atrium_processes\{state="silent"\} 0$/m.test(text)
      }
      await until(isWhole, 'all processes answer', 30_000)
      for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) exported.set(name, type)
    } finally {
      await atrium.end()
      await database.drop()
    }
    rules = (parse(await read(rulesPath)) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules)
  })

  const assertExported = (names: string[], where: string) => {
    for (const name of names) {
      const family = name.replace(/_(bucket|sum|count)$/, '')
      const known = exported.has(name) || exported.get(family) === 'histogram' || ofPrometheus.has(name)
      assert.ok(known, `${where} names ${name}, which no role exports`)
    }
  }

  test('each query of the dashboard parses and asks for metrics that exist', async () => {
    const dashboard = JSON.parse(await read('deploy/grafana/dashboard.json'))
    const queries = dashboard.panels.flatMap((panel: any) =>
      (panel.targets ?? []).map(({ expr }: { expr: string }) => [panel.title, expr.replaceAll('$__rate_interval', '5m')]),
    )
    assert.ok(queries.length > 30)
    for (const [title, expr] of queries) assertExported(metricsOf(expr), `the panel "${title}"`)
  })

  test('each alert parses, asks for metrics that exist, and has a runbook that shows its expression', async () => {
    assert.ok(rules.length > 15)
    for (const { alert, expr, labels, annotations } of rules) {
      assertExported(metricsOf(expr), alert)
      assert.ok(['page', 'ticket', 'info'].includes(labels.severity), alert)
      assert.equal(annotations.runbook_url, `docs/operating/alerts/${alert}.md`)
      const page = await read(annotations.runbook_url)
      for (const part of [`# ${alert}\n`, annotations.summary, '## Meaning', expr, '## What to look at', '## What to do'])
        assert.ok(page.includes(part), `${annotations.runbook_url} lacks: ${part}`)
    }
    const pages = await readdir(new URL('docs/operating/alerts/', root))
    assert.deepEqual(pages.toSorted(), rules.map(({ alert }) => `${alert}.md`).toSorted())
  })

  test('each metric that a runbook names exists', async () => {
    for (const { annotations } of rules) {
      const page = await read(annotations.runbook_url)
      assertExported(
        [...page.matchAll(/\b(?:atrium|nodejs|process)_[a-z0-9_]+/g)].map(([name]) => name),
        annotations.runbook_url,
      )
    }
  })

  test('the documentation lists each metric with its type, and no other', async () => {
    const rows = (await read('docs/operating/observability.md')).matchAll(/^\| `([a-z0-9_]+)` \| (counter|gauge|histogram) \|/gm)
    const listed = [...rows].map(([, name, type]) => `${name} ${type}`)
    assert.deepEqual(listed.toSorted(), [...exported].map((one) => one.join(' ')).toSorted())
  })

  test('promtool accepts the rules', { skip: skipWithout('promtool') }, () => {
    execFileSync('promtool', ['check', 'rules', fileURLToPath(new URL(rulesPath, root))], { stdio: 'pipe' })
  })
})

/** The names of the metrics in a PromQL expression; throws where it does not parse. */
function metricsOf(expr: string): string[] {
  const names: string[] = []
  parser.parse(expr).iterate({
    enter: ({ type, from, to }) => {
      assert.ok(!type.isError, `a syntax error at ${from} in ${expr}`)
      if (type.name === 'VectorSelector') names.push(/^[a-zA-Z_:][\w:]*/.exec(expr.slice(from, to))?.[0] ?? '')
    },
  })
  assert.ok(names.length > 0, expr)
  return names
}

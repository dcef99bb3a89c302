import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'

/** A span as a collector receives it over OTLP, with its attributes as an object. */
export interface ReceivedSpan {
  traceId: string
  spanId: string
  parentSpanId: string | undefined
  name: string
  /** 2: server, 3: client, 5: consumer. */
  kind: number
  attributes: Record<string, unknown>
  links: string[]
  isError: boolean
  /** Of the process that sent it. */
  role: unknown
  service: unknown
}

interface Collector {
  endpoint: string
  /** Of http/json alone. */
  spans: ReceivedSpan[]
  /** Names of metrics with the number of their points. */
  metrics: Map<string, number>
  /** Every request as it arrived: path, headers and body. */
  requests: { path: string; headers: IncomingMessage['headers']; text: string }[]
  /** Whether requests are answered. */
  answers: boolean
  close(): Promise<void>
}

interface Attribute {
  key: string
  value: Record<string, unknown>
}

/** A collector on loopback that decodes OTLP over http/json, and keeps the bytes of all that it receives. */
export async function startCollector(): Promise<Collector> {
  const server = createServer((req, res) => {
    void buffer(req).then((body) => {
      const bytes = req.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
      const path = req.url ?? ''
      const text = bytes.toString('latin1')
      collector.requests.push({ path, headers: req.headers, text })
      if (req.headers['content-type'] === 'application/json') record(collector, path, bytes.toString())
      if (collector.answers) res.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const collector: Collector = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    metrics: new Map(),
    requests: [],
    answers: true,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
  return collector
}

// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

function record(collector: Collector, path: string, text: string): void {
  const body: Json = JSON.parse(text)
  if (path === '/v1/traces')
    for (const { resource, scopeSpans } of body.resourceSpans)
      for (const { spans } of scopeSpans)
        for (const span of spans) collector.spans.push(readSpan(span, attributesOf(resource.attributes)))
  if (path === '/v1/metrics')
    for (const { scopeMetrics } of body.resourceMetrics)
      for (const { metrics } of scopeMetrics)
        for (const { name, sum, gauge, histogram } of metrics)
          collector.metrics.set(name, (sum ?? gauge ?? histogram).dataPoints.length)
}

function readSpan(span: Json, resource: Record<string, unknown>): ReceivedSpan {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId || undefined,
    name: span.name,
    kind: span.kind,
    attributes: attributesOf(span.attributes),
    links: (span.links ?? []).map((link: Json) => link.traceId),
    isError: span.status?.code === 2,
    role: resource['atrium.role'],
    service: resource['service.name'],
  }
}

function attributesOf(list: Attribute[] = []): Record<string, unknown> {
  return Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]))
}

import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import {
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Span as OtelSpan,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api'
import { parseTraceParent } from '@opentelemetry/core'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace'
import type { TelemetryConfig } from '#config/telemetry-config.ts'
import { codeOf } from '#errors/caught.ts'
import { closeTimeoutMs, exporterOptions, exportTimeoutMs, openResource, reportFailures } from './otlp.ts'
import { silentSpan, type OpenSpan, type Span, type SpanOptions, type Tracing } from './tracing.ts'

/** How many spans wait for the collector: about 4 MB. Further ones are dropped. */
const maxQueueSize = 2_048
const maxExportBatchSize = 512

const kinds: Record<SpanOptions['kind'], SpanKind> = {
  internal: SpanKind.INTERNAL,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
  server: SpanKind.SERVER,
}

/** Sends spans to a collector over OTLP. */
export class OtlpTracing implements Tracing {
  readonly #provider: TracerProvider
  readonly #tracer: Tracer
  /** Not the global context of the library, so that no other library adds spans or sees these. */
  readonly #current = new AsyncLocalStorage<WrittenSpan>()

  private constructor(provider: TracerProvider) {
    this.#provider = provider
    this.#tracer = provider.getTracer('atrium')
  }

  static async open(
    config: TelemetryConfig,
    headers: Record<string, string> | undefined,
    role: string,
    say: (line: string) => void,
  ): Promise<OtlpTracing> {
    reportFailures(say)
    const processor = new BatchSpanProcessor({
      exporter: await openExporter(config, headers),
      maxQueueSize,
      maxExportBatchSize,
      scheduledDelayMillis: config.spanDelayMs,
      exportTimeoutMillis: exportTimeoutMs,
    })
    const provider = new TracerProvider({
      resource: openResource(config, { 'atrium.role': role }),
      sampler: openSampler(config),
      spanProcessors: [processor],
      spanLimits: { attributeCountLimit: 32, attributeValueLengthLimit: 256 },
    })
    return new OtlpTracing(provider)
  }

  async span<T>(name: string, options: SpanOptions, run: (span: Span) => Promise<T>): Promise<T> {
    const span = this.#start(name, options, this.#open())
    try {
      return await span.run(() => run(span))
    } catch (error) {
      span.fail(typeOf(error))
      throw error
    } finally {
      span.end()
    }
  }

  childSpan<T>(name: string, options: SpanOptions, run: (span: Span) => Promise<T>): Promise<T> {
    return this.#open()?.isSampled ? this.span(name, options, run) : run(silentSpan)
  }

  begin(name: string, options: SpanOptions, callersTraceparent: string | undefined): OpenSpan {
    const caller = callersTraceparent === undefined ? null : parseTraceParent(callersTraceparent)
    const links = caller && isSpanContextValid(caller) ? [{ context: caller }] : []
    return this.#start(name, options, undefined, links)
  }

  headers(): { traceparent?: string } {
    const open = this.#open()
    if (!open) return {}
    const { traceId, spanId } = open.context
    return { traceparent: `00-${traceId}-${spanId}-${open.isSampled ? '01' : '00'}` }
  }

  async close(): Promise<void> {
    const closed = this.#provider.shutdown().catch(() => undefined)
    await Promise.race([closed, delay(closeTimeoutMs, undefined, { ref: false })])
  }

  /** The current span, sampled or not, unless it has ended: timers and queues keep the context of their start. */
  #open(): WrittenSpan | undefined {
    const span = this.#current.getStore()
    return span?.isOpen ? span : undefined
  }

  #start(
    name: string,
    { kind, attributes = {} }: SpanOptions,
    parent: WrittenSpan | undefined,
    links: { context: SpanContext }[] = [],
  ): WrittenSpan {
    const within = parent ? trace.setSpanContext(ROOT_CONTEXT, parent.context) : ROOT_CONTEXT
    return new WrittenSpan(this.#tracer.startSpan(name, { kind: kinds[kind], attributes, links }, within), this.#current)
  }
}

class WrittenSpan implements OpenSpan {
  readonly context: SpanContext
  readonly isSampled: boolean
  readonly #span: OtelSpan
  readonly #current: AsyncLocalStorage<WrittenSpan>
  #isOpen = true

  constructor(span: OtelSpan, current: AsyncLocalStorage<WrittenSpan>) {
    this.context = span.spanContext()
    this.isSampled = (this.context.traceFlags & TraceFlags.SAMPLED) !== 0
    this.#span = span
    this.#current = current
  }

  get traceId(): string {
    return this.context.traceId
  }

  /** The library's isRecording does not serve here: it is also false for a span that is not sampled. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  set(attributes: Record<string, string | number | boolean>): void {
    this.#span.setAttributes(attributes)
  }

  fail(type: string): void {
    this.#span.setAttribute('error.type', type)
    this.#span.setStatus({ code: SpanStatusCode.ERROR })
  }

  run<T>(act: () => T): T {
    return this.#current.run(this, act)
  }

  end(): void {
    this.#isOpen = false
    this.#span.end()
  }
}

/** The SQLSTATE, the code of the system, or the class; never the message, which may quote a value. */
function typeOf(error: unknown): string {
  return codeOf(error) ?? (error instanceof Error ? error.constructor.name : 'unknown')
}

/** Loads only the encoding that is configured. */
async function openExporter(config: TelemetryConfig, headers: Record<string, string> | undefined): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    config.protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto')
  return new OTLPTraceExporter(exporterOptions(config, 'traces', headers))
}

/** `parentbased_` decides once for a whole trace; without it, each span is decided separately. */
function openSampler({ sampler, samplerRatio }: TelemetryConfig): Sampler {
  const root = sampler.endsWith('always_on')
    ? new AlwaysOnSampler()
    : sampler.endsWith('always_off')
      ? new AlwaysOffSampler()
      : new TraceIdRatioBasedSampler(samplerRatio)
  return sampler.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root
}

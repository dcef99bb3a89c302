type Attributes = Record<string, string | number | boolean>

/** A unit of work in a trace. No attribute has content, an id, an address or another value that a caller chose. */
export interface Span {
  set(attributes: Attributes): void
  /** Marks the span as failed. `type` is a code or the name of a class, and never a message, which may quote a value. */
  fail(type: string): void
}

/** A span that its creator must end. */
export interface OpenSpan extends Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** Runs `act`, and what it starts, as part of this span. */
  run<T>(act: () => T): T
  end(): void
}

export interface SpanOptions {
  kind: 'internal' | 'client' | 'consumer' | 'server'
  attributes?: Attributes
}

/** Records what happens and how long it takes. Nothing waits for the collector, and memory for spans is bounded. */
export interface Tracing {
  /** Runs `run` in a span, a new trace outside of another span. The span fails if `run` rejects. */
  span<T>(name: string, options: SpanOptions, run: (span: Span) => Promise<T>): Promise<T>
  /** Like `span`, but records nothing outside of an open span: for work that also runs in the background all the time. */
  childSpan<T>(name: string, options: SpanOptions, run: (span: Span) => Promise<T>): Promise<T>
  /**
   * Begins the span of a request, always in a new trace. The caller's `traceparent` becomes a link and not the parent:
   * a caller decides neither whether the request is sampled nor to which trace it belongs.
   */
  begin(name: string, options: SpanOptions, callersTraceparent: string | undefined): OpenSpan
  /** `traceparent` of the open span, for a request to another service of this installation. */
  headers(): { traceparent?: string }
  /** Sends the remaining spans, for at most a second. */
  close(): Promise<void>
}

/** The span where nothing is recorded. */
export const silentSpan: Span = { set: () => undefined, fail: () => undefined }

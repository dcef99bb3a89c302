/**
 * The answer that a test scripts for a provider. Without `status` it is a stream: the deltas of `text`, then the
 * calls, then `ending`.
 */
export interface Script {
  text?: string[]
  /** `args` is JSON, or the invalid text of a model that makes a mistake. */
  calls?: { name: string; args: string }[]
  finish?: 'stop' | 'length' | 'refused'
  /** Instead of a proper end. */
  ending?: 'stall' | 'hang up' | 'endless' | 'garbage' | { error: { code: string; message: string } }
  /** Says nothing at all, not even headers. */
  silent?: true
  /** An error instead of a stream. */
  status?: number
  headers?: Record<string, string>
  body?: unknown
}

/** Writes the server-sent events of a provider. Each string is one whole event. */
export interface Wire {
  begin(model: string): string[]
  text(delta: string): string[]
  /** After the text; the nth call of the answer. */
  call(n: number, name: string, args: string): string[]
  error(code: string, message: string): string[]
  end(finish: 'stop' | 'length' | 'refused' | 'calls'): string[]
}

/** The token counts in every answer of a scripted provider. */
export const scriptedUsage = { input: 11, output: 7 }

export function event(data: unknown, type?: string): string {
  return `${type ? `event: ${type}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

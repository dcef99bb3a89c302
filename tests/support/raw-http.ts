import { connect } from 'node:net'

interface RawAnswer {
  status: number
  /** By lower-case name. */
  headers: Record<string, string>
  text: string
}

export interface Exchange {
  /** In order, without informational answers (100). */
  answers: RawAnswer[]
  /** The statuses below 200 that came. */
  informational: number[]
  /** Whether the server ended the connection. */
  closed: boolean
  /** What came that is no answer. */
  rest: string
}

export interface ExchangeOptions {
  /** How long to wait for the first answer. */
  timeoutMs?: number
  /**
   * How long to wait after an answer for another one or the end: 0 if neither matters. Otherwise long enough for a busy
   * machine, so the server should end the connection.
   */
  quietMs?: number
  /** Ends our half after sending, as netcat does. */
  end?: boolean
}

/** Sends the parts unchanged over a separate connection and collects the answers. */
export function exchange(
  origin: string,
  parts: string | Buffer | (string | Buffer)[],
  options: ExchangeOptions = {},
): Promise<Exchange> {
  const { timeoutMs = 30_000, quietMs = 5_000, end = false } = options
  const { port } = new URL(origin)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect({ port: Number(port), host: 'localhost' })
    let closed = false
    const finish = () => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ ...parseAnswers(Buffer.concat(chunks)), closed })
    }
    let timer = setTimeout(finish, timeoutMs)
    socket.setNoDelay(true)
    socket.once('connect', () => {
      for (const part of Array.isArray(parts) ? parts : [parts])
        socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part)
      if (end) socket.end()
    })
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      if (parseAnswers(Buffer.concat(chunks)).answers.length === 0) return
      clearTimeout(timer)
      timer = setTimeout(finish, quietMs)
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // The server may close a connection during the request. Its answer before that counts.
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') closed = true
      else reject(error)
    })
    socket.once('close', () => {
      closed = true
      finish()
    })
  })
}

/** A request with the given lines and a Host. The body gets no Content-Length except one in the lines. */
export function requestText(line: string, headers: string[] = [], body = ''): string {
  return [`${line} HTTP/1.1`, 'Host: localhost', ...headers, '', body].join('\r\n')
}

function parseAnswers(bytes: Buffer): Omit<Exchange, 'closed'> {
  const answers: RawAnswer[] = []
  const informational: number[] = []
  let text = bytes.toString('latin1')
  for (;;) {
    const match = /^HTTP\/1\.1 (\d{3})[^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/.exec(text)
    if (!match) return { answers, informational, rest: text }
    const status = Number(match[1])
    const headers = Object.fromEntries(
      match[2]!
        .split('\r\n')
        .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const after = text.slice(match[0].length)
    const length = Number(headers['content-length'] ?? 0)
    if (after.length < length) return { answers, informational, rest: text }
    if (status < 200) informational.push(status)
    else answers.push({ status, headers, text: Buffer.from(after.slice(0, length), 'latin1').toString() })
    text = after.slice(length)
  }
}

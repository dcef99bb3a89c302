import { constants, fstatSync, openSync, writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'
import { codeOf } from '#errors/caught.ts'

/** About 400 lines of the access log. */
const writeAtBytes = 64 * 1024
const writeAfterMs = 50
/** The memory for lines that nobody reads: about 6,000 lines of the access log. Further lines are dropped. */
const maxUnwritten = 1024 * 1024
/** The longest wait of an exit for a reader. */
const exitWaitMs = 2_000
const exitPollMs = 10
/** A pipe takes so many bytes together or not at all (PIPE_BUF), so lines of two processes do not mix. */
const atomicBytes = 4_096
const newline = 10
/** A character of JavaScript takes at most three bytes of UTF-8. */
const maxCharacterBytes = 3

/**
 * Standard output for log lines, which are buffered and written together: a write per request would take a tenth of
 * the processor time of a small request. A line waits at most 50 ms. The buffer is written when the process exits,
 * also after an uncaught error; only a killed process loses it.
 *
 * Neither a reader that stops reading nor a full disk stops the process: lines wait in memory up to a limit, further
 * lines are dropped, and a line says how many when writing works again. An exit waits for the reader, at most 2 s.
 *
 * Writes are synchronous and do not block: an exit cannot wait for a write that another thread has begun, and the rest
 * of that write would be lost.
 */
class LogOutput implements DestinationStream {
  /**
   * The new lines, as bytes. Strings would survive until the next write, and V8's collector for young objects would copy
   * them.
   */
  readonly #lines = Buffer.allocUnsafeSlow(2 * writeAtBytes)
  #bytes = 0
  #count = 0
  #timer: NodeJS.Timeout | undefined
  /** Lines that standard output has not taken yet. */
  #unwritten: Buffer = Buffer.alloc(0)
  #dropped = 0
  #hasReader = true

  readonly #fd = openOutput()

  constructor() {
    process.on('beforeExit', () => this.#flush())
    process.on('exit', () => this.#finish())
  }

  write(line: string): void {
    if (line.length * maxCharacterBytes > writeAtBytes) {
      this.#take()
      this.#keep(Buffer.from(line), 1)
      return this.#flush()
    }
    this.#bytes += this.#lines.write(line, this.#bytes)
    this.#count++
    if (this.#bytes >= writeAtBytes) this.#flush()
    else this.#timer ??= setTimeout(() => this.#flush(), writeAfterMs).unref()
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#take()
    if (this.#writeAll() === undefined) return
    this.#timer = setTimeout(() => this.#flush(), writeAfterMs).unref()
  }

  /** Moves the new lines to those that wait. */
  #take(): void {
    if (this.#count === 0) return
    this.#keep(Buffer.from(this.#lines.subarray(0, this.#bytes)), this.#count)
    this.#bytes = 0
    this.#count = 0
  }

  /** Adds lines to those that wait, or drops them if too much waits. */
  #keep(lines: Buffer, count: number): void {
    if (this.#unwritten.length === 0) this.#unwritten = lines
    else if (this.#unwritten.length + lines.length <= maxUnwritten) this.#unwritten = Buffer.concat([this.#unwritten, lines])
    else this.#dropped += count
  }

  /** Returns the error if standard output does not take everything now: EAGAIN if its reader is slow. */
  #writeAll(): unknown {
    try {
      while (this.#unwritten.length > 0 && this.#hasReader) {
        const written = writeSync(this.#fd, this.#unwritten, 0, pieceLength(this.#unwritten))
        this.#unwritten = this.#unwritten.subarray(written)
        if (this.#unwritten.length === 0 && this.#dropped > 0) this.#unwritten = this.#tellDropped()
      }
    } catch (error) {
      if (codeOf(error) !== 'EPIPE') return error
      this.#hasReader = false
    }
    this.#unwritten = Buffer.alloc(0)
    return undefined
  }

  #tellDropped(): Buffer {
    const msg = `${this.#dropped} log lines were dropped, because standard output did not take them in time`
    this.#dropped = 0
    return Buffer.from(`${linePrefix(40)},"msg":"${msg}"}\n`)
  }

  #finish(): void {
    this.#take()
    const endsAt = performance.now() + exitWaitMs
    const pause = new Int32Array(new SharedArrayBuffer(4))
    while (codeOf(this.#writeAll()) === 'EAGAIN' && performance.now() < endsAt) Atomics.wait(pause, 0, 0, exitPollMs)
  }
}

/**
 * Returns a descriptor of standard output to which writes do not block. Processes that share a pipe also share its
 * mode, and each start of a child process that inherits it makes it blocking again. So a pipe is opened a second time,
 * with a mode of its own. A socket cannot be: its mode holds until a child is started that does not write log lines.
 */
function openOutput(): number {
  const stdout = 1
  const stats = fstatSync(stdout)
  if (stats.isFIFO()) {
    try {
      return openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK)
    } catch {
      // Not Linux, or a pipe of another user.
    }
  }
  // Node makes pipes and sockets non-blocking when the stream is first used.
  if (stats.isFIFO() || stats.isSocket()) void process.stdout
  return stdout
}

/** The length of as many whole lines as can be written together, or of one line that is longer. */
function pieceLength(lines: Buffer): number {
  if (lines.length <= atomicBytes) return lines.length
  return lines.lastIndexOf(newline, atomicBytes - 1) + 1 || lines.indexOf(newline) + 1 || lines.length
}

/** One per process: two buffers on one file would mix their lines. */
export const logOutput = new LogOutput()

let stampedMs = 0
let stamp = ''

/** pino's `isoTime`, computed once per millisecond, because it takes as long as the rest of a line. */
export function logTime(): string {
  const now = Date.now()
  if (now !== stampedMs) {
    stampedMs = now
    stamp = `,"time":"${new Date(now).toISOString()}"`
  }
  return stamp
}

const { pid } = process

/** The beginning of the lines of the access log, which is that of pino's lines of the level `info`. */
export function accessLinePrefix(): string {
  return linePrefix(30)
}

function linePrefix(level: number): string {
  return `{"level":${level}${logTime()},"pid":${pid}`
}

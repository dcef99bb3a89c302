import type { ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'

const keptLength = 500
/**
 * The last output may arrive after the process has ended. A child of that process that still runs keeps the pipe
 * open for longer.
 */
const lastWordsMs = 200

/**
 * Passes on the error output of a child process. Returns its last line, which usually names the reason for the exit.
 */
function passOnErrors(stderr: Readable): { last(): string | undefined } {
  let tail = ''
  stderr.on('data', (chunk: Buffer) => {
    process.stderr.write(chunk)
    // Trailing blank lines are dropped first, so that the cut leaves text.
    tail = `${tail}${chunk.toString('utf8')}`.slice(-8 * keptLength)
  })
  return {
    last: () => {
      const lines = tail.split('\n').map((line) => line.trim())
      // After an uncaught error, Node prints its own version last.
      const told = lines.findLast((line) => /^[A-Za-z]*(Error|FATAL|PANIC)\b/.test(line))
      return (told ?? lines.findLast((line) => line !== '' && !line.startsWith('Node.js v')))?.slice(0, keptLength)
    },
  }
}

/** Calls back once when the process has ended, with the manner of its end. */
export function onceEnded(child: ChildProcess, run: (how: string) => void): void {
  if (!child.stderr) throw new Error('the child process was started without a pipe for its errors')
  const words = passOnErrors(child.stderr)
  child.once('exit', (code, signal) => {
    const tell = () => {
      clearTimeout(timer)
      child.off('close', tell)
      run(describeEnd(code, signal, words.last()))
    }
    const timer = setTimeout(tell, lastWordsMs)
    child.once('close', tell)
  })
}

function describeEnd(code: number | null, signal: NodeJS.Signals | null, lastLine: string | undefined): string {
  const how = signal ? `ended by ${signal}` : `ended with exit code ${code}`
  return lastLine ? `${how}: ${lastLine}` : how
}

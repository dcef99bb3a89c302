import { ChildProcess } from 'node:child_process'
import type { Worker } from 'node:cluster'
import type { Readable } from 'node:stream'
import { messageOf } from '#errors/caught.ts'

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

/**
 * Spawns a child process that has a pipe for its errors. Calls back once when it has ended, with the manner of its end.
 * Returns undefined if it could not be spawned: `spawn` then throws, or the process reports an error and no exit.
 */
export function spawnUntilEnd<Child extends ChildProcess | Worker>(
  spawn: () => Child,
  run: (how: string) => void,
): Child | undefined {
  const fail = (error: unknown) => run(`could not be spawned: ${messageOf(error)}`)
  let child: Child
  try {
    child = spawn()
  } catch (error) {
    fail(error)
    return undefined
  }
  const spawned = child instanceof ChildProcess ? child : child.process
  const isSpawned = spawned.pid !== undefined
  // Later errors are of messages to a process that ends. Without a listener, they would end this process.
  child.on('error', (error) => isSpawned || fail(error))
  if (!isSpawned) return undefined
  onceEnded(spawned, run)
  return child
}

function onceEnded(child: ChildProcess, run: (how: string) => void): void {
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

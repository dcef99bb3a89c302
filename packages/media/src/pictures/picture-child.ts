import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { PictureError } from './picture-error.ts'
import type { PictureAnswer, PictureJob } from './picture-job.ts'

const path = fileURLToPath(new URL('picture-process.ts', import.meta.url))

/**
 * A process that opens strangers' pictures, one at a time. Its own, because decoders have faults: what breaks or hangs
 * them ends this process and no request of anyone else, and it is told none of the secrets.
 */
export class PictureChild {
  readonly #process: ChildProcess
  readonly exited: Promise<void>
  alive = true
  /** After its last job. */
  rssBytes = 0

  constructor() {
    this.#process = fork(path, [], {
      // Fewer arenas: memory that a thread gave back is otherwise kept for that thread.
      env: { PATH: process.env['PATH'], TMPDIR: process.env['TMPDIR'], MALLOC_ARENA_MAX: '2' },
      execArgv: ['--max-old-space-size=128'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.exited = new Promise((resolve) => {
      const end = () => {
        this.alive = false
        resolve()
      }
      this.#process.once('exit', end).once('error', end)
    })
  }

  /** What it answers. `too_slow` where it does not in time, or dies over it: it is ended then. */
  run(job: PictureJob, timeoutMs: number): Promise<PictureAnswer> {
    return new Promise((resolve, reject) => {
      const fail = (cause?: Error) => {
        settle()
        this.end()
        reject(new PictureError('too_slow', 'The picture takes too long.', { cause }))
      }
      const timer = setTimeout(fail, timeoutMs)
      const take = (answer: PictureAnswer) => {
        settle()
        this.rssBytes = answer.rssBytes
        resolve(answer)
      }
      const died = () => fail(new Error('its process ended'))
      const settle = () => {
        clearTimeout(timer)
        this.#process.off('message', take).off('exit', died)
      }
      this.#process.once('message', take).once('exit', died)
      if (!this.alive) return died()
      this.#process.send(job, (error) => error && fail(error))
    })
  }

  end(): void {
    this.alive = false
    this.#process.kill('SIGKILL')
  }
}

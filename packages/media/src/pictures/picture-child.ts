import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { PictureError } from './picture-error.ts'
import type { PictureAnswer, PictureJob } from './picture-job.ts'

const path = fileURLToPath(new URL('picture-process.ts', import.meta.url))

/**
 * A process that opens untrusted pictures, one at a time. Decoders have defects, so they run in a separate process:
 * a picture that crashes or hangs a decoder affects no other request, and the process has no secrets.
 */
export class PictureChild {
  readonly #process: ChildProcess
  readonly exited: Promise<void>
  alive = true
  /** Its memory after its last job. */
  rssBytes = 0

  constructor() {
    this.#process = fork(path, [], {
      // Fewer arenas, because glibc otherwise keeps memory that a thread has freed for that thread.
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

  /**
   * Runs a job and returns its result. Throws `too_slow` if the process does not finish in time or crashes; it is
   * ended then.
   */
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

import { constants } from 'node:os'

/** From now on, the process exits when its output cannot be written. */
export function exitWhenUnwritten(): void {
  process.stdout.on('error', (error) => {
    // A command with a listener of its own decides itself: a server runs on, a backup has failed.
    if (process.stdout.listenerCount('error') === 1) endUnwritten(error)
  })
}

/**
 * Ends the command because its output cannot be written. If the reader has ended, as in `| head`, it prints nothing and
 * exits with the code of a program that SIGPIPE ended.
 */
export function endUnwritten(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE') process.exit(128 + constants.signals.SIGPIPE)
  console.error(`atrium: the output cannot be written: ${error.message}`)
  process.exit(1)
}

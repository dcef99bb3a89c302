const endsAfterMs = 9_300

interface Running {
  /** Resolves to the reason when the process cannot continue. */
  failed?: Promise<Error>
  stop(): Promise<void>
}

/**
 * Starts, and stops in order on SIGINT or SIGTERM, or with exit code 1 on a fatal error. A second signal exits at
 * once.
 */
export async function runUntilStopped(start: () => Promise<Running>): Promise<void> {
  let stop = () => {}
  // Promise.withResolvers is not in Node 20, in which a witness may run.
  const stopped = new Promise<void>((resolve) => (stop = resolve))
  let starting = true
  let signals = 0
  const onSignal = () => {
    signals++
    if (signals > 1 && !starting) process.exit(1)
    stop()
  }
  let exitCode = 0
  // The process exits even if the shutdown hangs, or if the start still waits for a migration or a backup.
  void stopped.then(() => setTimeout(() => process.exit(exitCode), endsAfterMs))
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  // The reader of the log may end before the server does.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  const running = await start()
  starting = false
  void running.failed?.then(({ message }) => {
    console.error(`atrium: ${message}`)
    exitCode = 1
    stop()
  })
  await stopped
  await running.stop()
  process.exit(exitCode)
}

/**
 * For a command that can end at any moment: prints on stderr what SIGINT or SIGTERM leaves. The signal then ends the
 * process, so that a shell script ends with it too.
 */
export function sayWhenStopped(line: string): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      console.error(`atrium: ${line}`)
      process.kill(process.pid, signal)
      // The first process of a container ignores a signal that it does not handle.
      process.exit(1)
    })
}

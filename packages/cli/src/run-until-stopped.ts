const endsAfterMs = 9_300

interface Running {
  /** Why it cannot go on. */
  failed?: Promise<Error>
  stop(): Promise<void>
}

/** Starts, and stops in order on SIGINT or SIGTERM, or with exit code 1 when it cannot go on; a second signal while stopping ends at once. */
export async function runUntilStopped(start: () => Promise<Running>): Promise<void> {
  const stopped = Promise.withResolvers<void>()
  let starting = true
  let signals = 0
  const onSignal = () => {
    signals++
    if (signals > 1 && !starting) process.exit(1)
    stopped.resolve()
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  const running = await start()
  starting = false
  let exitCode = 0
  void running.failed?.then(({ message }) => {
    console.error(`atrium: ${message}`)
    exitCode = 1
    stopped.resolve()
  })
  await stopped.promise
  // Whatever hangs, an end that was asked for comes.
  setTimeout(() => process.exit(exitCode), endsAfterMs)
  await running.stop()
  process.exit(exitCode)
}

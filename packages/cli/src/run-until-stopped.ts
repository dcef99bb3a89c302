const endsAfterMs = 9_300

/** Starts, and stops in order on SIGINT or SIGTERM; a second signal while stopping ends at once. */
export async function runUntilStopped(start: () => Promise<{ stop(): Promise<void> }>): Promise<void> {
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
  await stopped.promise
  // Whatever hangs, an end that was asked for comes.
  setTimeout(() => process.exit(0), endsAfterMs)
  await running.stop()
  process.exit(0)
}

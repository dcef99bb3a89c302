export interface StallWatch {
  /** Restarts the time limit: the next progress must come within so many milliseconds. */
  expect: (ms: number) => void
  stop: () => void
}

/** Reports if progress did not come in time. The SDK's own timeouts start only once a provider has sent headers. */
export function watchForStall(onStall: () => void): StallWatch {
  let timer: NodeJS.Timeout | undefined
  const stop = () => clearTimeout(timer)
  const expect = (ms: number) => {
    stop()
    timer = setTimeout(onStall, ms)
  }
  return { expect, stop }
}

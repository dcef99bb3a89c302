/**
 * Measures the longest stretch of processor time between two turns of the event loop, in milliseconds: how long a
 * timer, a lease or another tenant's answer had to wait. It uses this thread's processor time and not the clock, so
 * other load on the machine does not count.
 */
export async function longestBlock(work: () => Promise<unknown>): Promise<number> {
  let last = processorMs()
  let longest = 0
  const look = () => {
    const now = processorMs()
    longest = Math.max(longest, now - last)
    last = now
  }
  const timer = setInterval(look, 1)
  await new Promise((resolve) => setTimeout(resolve, 5))
  longest = 0
  try {
    await work()
    await new Promise((resolve) => setTimeout(resolve, 5))
  } finally {
    clearInterval(timer)
    look()
  }
  return longest
}

/** The processor time of this thread so far, in milliseconds. */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

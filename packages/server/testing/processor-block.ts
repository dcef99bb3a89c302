/**
 * The longest stretch of processor time between two turns of the event loop while something runs, in milliseconds: how
 * long a timer, a lease or another tenant's answer waited for it. Of this thread, not of the clock: a busy machine
 * changes nothing in it.
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

function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

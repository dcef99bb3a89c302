const quietMs = 5_000

/** Tells a screen reader what is new, not more often than it can say so. */
export function startAnnouncer(region: HTMLElement): (summary: string) => void {
  let waiting: string[] = []
  let timer: number | undefined
  const say = () => {
    timer = undefined
    if (waiting.length === 0) return
    region.textContent = waiting.length === 1 ? `New: ${waiting[0]}` : `${waiting.length} new messages`
    waiting = []
    timer = window.setTimeout(say, quietMs)
  }
  return (summary) => {
    waiting.push(summary)
    timer ??= window.setTimeout(say, 100)
  }
}

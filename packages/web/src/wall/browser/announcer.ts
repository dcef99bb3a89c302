import { counted, words } from './words.ts'

const quietMs = 5_000

/** Announces new items to screen readers, at most as often as they can be read out. */
export function startAnnouncer(region: HTMLElement): (summary: string) => void {
  let waiting: string[] = []
  let timer: number | undefined
  const say = () => {
    timer = undefined
    if (waiting.length === 0) return
    region.textContent = waiting.length === 1 ? `${words.arrived} ${waiting[0]}` : counted(words.arrivedMany, waiting.length)
    waiting = []
    timer = window.setTimeout(say, quietMs)
  }
  return (summary) => {
    waiting.push(summary)
    timer ??= window.setTimeout(say, 100)
  }
}

const clock = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' })
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'medium' })
const dayOfYear = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' })
const dayWithYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'long', year: 'numeric' })

const DAY_MS = 86_400_000

/** The time of day where the reader is. */
export function clockTime(at: string): string {
  return clock.format(new Date(at))
}

export function wholeMoment(at: string): string {
  return whole.format(new Date(at))
}

/** The same for all moments of one local day. */
export function dayKey(at: string): string {
  return new Date(at).toDateString()
}

/** `Today`, `Yesterday`, or the date. */
export function dayName(at: string, now = new Date()): string {
  const date = new Date(at)
  const key = date.toDateString()
  if (key === now.toDateString()) return 'Today'
  if (key === new Date(now.getTime() - DAY_MS).toDateString()) return 'Yesterday'
  return (date.getFullYear() === now.getFullYear() ? dayOfYear : dayWithYear).format(date)
}

/** The same within a sentence. */
export function dayInText(at: string): string {
  return dayName(at).replace(/^(?:Today|Yesterday)$/, (word) => word.toLowerCase())
}

import { locale } from './words.ts'

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const
const intervalMs = 30_000
const monthSeconds = 30 * 86_400

/** Shows times of the last month as "5 minutes ago", in the language of the page, and updates them. */
export function startRelativeTimes(): () => void {
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const full = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short' })
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
  const update = () => {
    for (const time of document.querySelectorAll<HTMLTimeElement>('.items time')) {
      const at = Date.parse(time.dateTime)
      const seconds = Math.max(0, (Date.now() - at) / 1_000)
      const [unit, size] = units.find((known) => seconds >= known[1]) ?? ['second', 1]
      const text =
        seconds > monthSeconds
          ? day.format(at)
          : seconds < 60
            ? relative.format(0, 'second')
            : relative.format(-Math.floor(seconds / size), unit)
      if (time.textContent === text) continue
      time.textContent = text
      time.title = full.format(at)
      time.lang = locale
    }
  }
  setInterval(update, intervalMs)
  update()
  return update
}

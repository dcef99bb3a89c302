import { language as pageLanguage } from './words.ts'

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const
const intervalMs = 30_000
const monthSeconds = 30 * 86_400

/** Shows times of the last month as "5 minutes ago", in the language of the page, and updates them. */
export function startRelativeTimes(): () => void {
  // The format of the visitor's country, if the browser's language names one.
  const language = navigator.language.startsWith(pageLanguage) ? navigator.language : pageLanguage
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
  const full = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'short' })
  const day = new Intl.DateTimeFormat(language, { dateStyle: 'medium' })
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
      time.lang = language
    }
  }
  setInterval(update, intervalMs)
  update()
  return update
}

import type { Random } from '../random.ts'
import {
  CALM_WORDS,
  COLD_WORDS,
  EXTRA_WORDS,
  FLOWER_WORDS,
  SNOW_WORDS,
  STYLE_WORDS,
  TIME_WORDS,
  WARM_WORDS,
  WEATHER_WORDS,
} from './mood-words.ts'
import type { Extra, Reading, StyleName, Subject, Time, Weather } from './reading.ts'
import { SUBJECT_WORDS } from './subject-words.ts'
import { find, fold, type Prompt } from './word-match.ts'

/** Reads what the prompt requests. The random stream decides the rest. */
export function readPrompt(text: string, random: Random): Reading {
  const prompt = fold(text)
  const subject = readSubject(prompt)
  const weather = first<Weather>(prompt, WEATHER_WORDS)
  const snow = find(prompt, SNOW_WORDS) !== undefined || weather === 'snow'
  const time = first<Time>(prompt, TIME_WORDS) ?? usualTime(subject, all(prompt, EXTRA_WORDS), random.fork('time'))
  return {
    subject,
    time,
    weather:
      weather === undefined || weather === 'snow'
        ? snow && (weather === 'snow' || random.fork('snow').chance(0.5))
          ? 'snow'
          : 'clear'
        : weather,
    snow,
    style: first<StyleName>(prompt, STYLE_WORDS) ?? random.fork('style').pick(SUITABLE[subject]),
    warmth: (find(prompt, WARM_WORDS) ? 1 : 0) - (find(prompt, COLD_WORDS) ? 1 : 0),
    calm: find(prompt, CALM_WORDS) !== undefined,
    extras: all(prompt, EXTRA_WORDS),
    flowers: all(prompt, FLOWER_WORDS),
  }
}

/**
 * The subject with the most words; if several are equal, the one that is named first. Without a known word, the
 * picture is abstract.
 */
function readSubject(prompt: Prompt): Subject {
  const scores = new Map<Subject, number>()
  for (const [subject, weight, list] of SUBJECT_WORDS) {
    const found = find(prompt, list)
    if (found)
      scores.set(
        subject,
        (scores.get(subject) ?? 0) + weight * (1 + 0.25 * (Math.min(found.count, 3) - 1)) + 0.3 * weight * (1 - found.at),
      )
  }
  const best = [...scores].sort((a, b) => b[1] - a[1])[0]
  return best?.[0] ?? 'abstract'
}

function usualTime(subject: Subject, extras: ReadonlySet<Extra>, random: Random): Time {
  if (extras.has('moon') || extras.has('stars')) return 'night'
  if (subject === 'lanterns') return random.pick(['night', 'night', 'dusk'])
  if (subject === 'nightsky') return 'night'
  if (subject === 'city') return random.pick(['night', 'night', 'dusk', 'dusk', 'day', 'dawn'])
  if (subject === 'garden' || subject === 'fields' || subject === 'stilllife') return random.pick(['day', 'day', 'dawn', 'dusk'])
  return random.pick(['day', 'day', 'dawn', 'dusk', 'dusk', 'night'])
}

const EVERY: readonly StyleName[] = ['gouache', 'paper', 'riso', 'woodblock', 'poster', 'ink', 'glass', 'linocut']
const without = (...names: StyleName[]): readonly StyleName[] => EVERY.filter((name) => !names.includes(name))

/** The styles that suit a subject, for prompts that name none. */
const SUITABLE: Record<Subject, readonly StyleName[]> = {
  harbour: without('ink'),
  sea: EVERY,
  mountains: EVERY,
  forest: EVERY,
  city: without('ink'),
  garden: without('ink'),
  lanterns: without('ink', 'linocut'),
  nightsky: without('ink', 'poster'),
  desert: EVERY,
  village: EVERY,
  street: without('ink', 'glass'),
  bough: EVERY,
  river: EVERY,
  fields: EVERY,
  stilllife: without('ink'),
  abstract: EVERY,
}

function first<T>(prompt: Prompt, lists: ReadonlyArray<readonly [T, string]>): T | undefined {
  const found = lists.flatMap(([name, list]) => {
    const match = find(prompt, list)
    return match ? [{ name, ...match }] : []
  })
  return found.sort((a, b) => a.at - b.at || b.length - a.length)[0]?.name
}

function all<T>(prompt: Prompt, lists: ReadonlyArray<readonly [T, string]>): ReadonlySet<T> {
  return new Set(lists.filter(([, list]) => find(prompt, list) !== undefined).map(([name]) => name))
}

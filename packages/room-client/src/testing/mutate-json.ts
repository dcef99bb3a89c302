/** Numbers from 0 to 1 that are the same in each run with this seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function pick<T>(random: () => number, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)]!
}

/** Text that stands in JSON as it is. */
class Raw {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

const nested = (deep: number) => '{"a":'.repeat(deep - 1) + '[]' + '}'.repeat(deep - 1)

/** Values that parsers of other languages read differently, or that a careless reader takes for another one. */
const values: readonly string[] = [
  nested(60),
  nested(63),
  nested(64),
  nested(65),
  nested(2_000),
  '9'.repeat(30),
  '1'.repeat(5_000),
  `${'1'.repeat(5_000)}.0`,
  `"${'A'.repeat(43)}"`,
  '"\t"',
  '" "',
  String.raw`"\u0000" "\ud800" "\ud83d\ude00" "\x" "\/" "" "room" "__proto__" 'x' null true false [] {} [null]`.split(' '),
  '0 -0 1 1.0 1e0 10E-1 -1 1.5 1e400 -1e400 9007199254740991 9007199254740993 1e15 NaN Infinity 01 +1 .5 1.'.split(' '),
].flat()
const names = ['__proto__', 'constructor', 'toString', 'crit', 'b64', 'hosted', 'member', 'x', '', '\u0000']

/** The JSON text with one thing in it that is different, and what that is. Not all that comes out is JSON. */
export function mutateJson(text: string, random: () => number): { text: string; how: string } {
  const root = { value: JSON.parse(text) as unknown }
  const places: { parent: Record<string, unknown>; name: string; path: string }[] = []
  const visit = (parent: Record<string, unknown>, name: string, path: string) => {
    places.push({ parent, name, path })
    const value = parent[name]
    if (typeof value === 'object' && value !== null)
      for (const inner of Object.keys(value)) visit(value as Record<string, unknown>, inner, `${path}/${inner}`)
  }
  visit(root, 'value', '')
  const { parent, name, path } = pick(random, places)
  const value = parent[name]
  const kind = pick(random, ['value', 'value', 'value', 'value', 'remove', 'member', 'member', 'wrap', 'text', 'twice', 'around'])
  const odd = pick(random, values)
  let how = `${kind} ${path}`
  if (kind === 'value') {
    parent[name] = new Raw(odd)
    how += ` ${odd.slice(0, 40)}`
  } else if (kind === 'remove') {
    if (Array.isArray(parent)) parent.splice(Number(name), 1)
    else delete parent[name]
  } else if (kind === 'member' && typeof value === 'object' && value !== null) {
    const added = pick(random, names)
    how += ` ${added}: ${odd.slice(0, 40)}`
    parent[name] = new Raw(
      written(value).replace(
        /[}\]]$/,
        (end) => `${written(value).length > 2 ? ',' : ''}${end === '}' ? `${JSON.stringify(added)}:` : ''}${odd}${end}`,
      ),
    )
  } else if (kind === 'wrap') parent[name] = [value]
  else if (kind === 'text') parent[name] = written(value)
  else if (kind === 'twice')
    parent[name] = Array.isArray(value)
      ? [...(value as unknown[]), value[0] as unknown]
      : new Raw(`${written(value)},"${name}":${odd}`)
  else {
    const around = pick(random, [' ', '\n', '\t', '\ufeff', '\u00a0', ',', 'x', '\u0000'])
    how += ` ${JSON.stringify(around)}`
    parent[name] = new Raw(random() < 0.5 ? around + written(value) : written(value) + around)
  }
  return { text: written(root.value), how }
}

function written(value: unknown): string {
  if (value instanceof Raw) return value.text
  if (Array.isArray(value)) return `[${value.map(written).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}:${written(inner)}`)
  return `{${members.join(',')}}`
}

/** The text with one character, or several in a row, that are different. */
export function mutateText(text: string, random: () => number): { text: string; how: string } {
  const at = Math.floor(random() * text.length)
  const kind = pick(random, ['flip', 'flip', 'remove', 'insert', 'repeat', 'cut'])
  const more = pick(random, ['A', 'B', '_', '=', '+', '.', '"', ',', ' ', '\n', 'é', '0', '\\u0041'])
  const how = `${kind} ${at} ${JSON.stringify(more)}`
  if (kind === 'flip') return { text: text.slice(0, at) + more + text.slice(at + 1), how }
  if (kind === 'remove') return { text: text.slice(0, at) + text.slice(at + 1 + Math.floor(random() * 4)), how }
  if (kind === 'insert') return { text: text.slice(0, at) + more + text.slice(at), how }
  if (kind === 'repeat') return { text: text.slice(0, at) + text.slice(Math.max(0, at - 5)), how }
  return { text: text.slice(0, at), how }
}

const columns = 116

/** Converts to snake_case, as in Python's names of parameters and methods: itemId, last-event-id, `Provider keys`. */
export function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[-\s]+/g, '_')
    .toLowerCase()
}

const keywords = new Set(['from', 'class', 'import', 'in', 'is', 'not', 'pass', 'global', 'lambda', 'with', 'as', 'async'])

/** The name of a parameter. A keyword of Python gets an underscore. */
export function parameterName(name: string): string {
  const snake = snakeCase(name)
  return keywords.has(snake) ? `${snake}_` : snake
}

export function isIdentifier(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && !keywords.has(name)
}

/** PascalCase: addItem, share_title. */
export function pascalCase(name: string): string {
  return name.replace(/(?:^|[-_\s.])(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** Wraps words into lines, the first after `indent`, the others after `indent` and `hanging`. */
export function wrap(text: string, indent: string, hanging = ''): string[] {
  const lines: string[] = []
  let line = indent
  for (const word of text.split(/\s+/)) {
    const isFirst = line.trim() === ''
    if (!isFirst && line.length + 1 + word.length > columns) {
      lines.push(line)
      line = `${indent}${hanging}${word}`
    } else line += isFirst ? word : ` ${word}`
  }
  return [...lines, line].map((one) => one.trimEnd())
}

/** A docstring of these indented lines. Lines that are too long must be wrapped before. */
export function docstring(lines: readonly string[], indent: string): string[] {
  const safe = lines.map((line) => line.replaceAll('\\', '\\\\').replaceAll('"""', "'''"))
  const [first = '', ...rest] = safe
  const text = first.trim()
  if (rest.length > 0) return [`${indent}"""${text}`, ...rest, `${indent}"""`]
  // A quote before the closing ones would end it.
  return [`${indent}"""${text.endsWith('"') ? `${text} ` : text}"""`]
}

/** A JSON value as a Python literal. */
export function literal(value: unknown, indent = ''): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const inner = `${indent}    `
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const parts = Array.isArray(value)
    ? value.map((entry) => literal(entry, inner))
    : Object.entries(value).map(([name, entry]) => `${JSON.stringify(name)}: ${literal(entry, inner)}`)
  const short = `${open}${parts.join(', ')}${close}`
  if (short.length + indent.length < 80 && !short.includes('\n')) return short
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`
}

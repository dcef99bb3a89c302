import { createHash } from 'node:crypto'

const maxLength = 64

/**
 * Makes a name that providers accept and that differs from all in `taken`, the same one at each start. `parts` are
 * joined; characters that a provider does not accept become `_`.
 */
export function nameTool(parts: string[], taken: Set<string>): string {
  const whole = parts.join('_')
  const plain = whole.replaceAll(/[^a-zA-Z0-9_-]/g, '_').replace(/^[^a-zA-Z_]/, '_')
  const fits = plain.length <= maxLength && !taken.has(plain) && !(plain in {})
  const name = fits ? plain : `${plain.slice(0, maxLength - 9)}_${digest(whole, taken)}`
  taken.add(name)
  return name
}

function digest(text: string, taken: Set<string>): string {
  return createHash('sha256').update(`${text}\n${taken.size}`).digest('hex').slice(0, 8)
}

/**
 * The mark of Atrium, and the drawing that is shown if there is no picture: arches within arches and a sun. The
 * collection's id determines the sun's position, so that empty pages differ. Both are decoration and hidden from
 * screen readers.
 */

export const archMarkPath = '<path d="M1 14V6.5a5.5 5.5 0 0 1 11 0V14M4 14V6.5a2.5 2.5 0 0 1 5 0V14"/>'
export const ARCH_MARK = `<svg viewBox="0 0 13 15" aria-hidden="true" focusable="false">${archMarkPath}</svg>`

const WIDTH = 640
const HEIGHT = 400
const FLOOR = 318
const MIDDLE = WIDTH / 2
const RADII = [150, 114, 80, 48]
const OPENING = archPath(48)

/** `sun`: `waiting` pulses slowly, `still` does not move, `none` leaves the doorway dark. */
export function archDrawing(seed: string, sun: 'none' | 'still' | 'waiting'): string {
  const arches = RADII.map((radius, depth) => `<path class="arch d${depth}" d="${archPath(radius)}"/>`)
  return [
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" aria-hidden="true" focusable="false"${sun === 'none' ? '' : ' class="lit"'}>`,
    ...arches,
    sun === 'none' ? '' : sunlight(seed, sun),
    `<path class="floor" d="M0 ${FLOOR}H${WIDTH}"/>`,
    '</svg>',
  ].join('')
}

function archPath(radius: number): string {
  const spring = FLOOR - Math.round(36 + radius * 0.55)
  return `M${MIDDLE - radius} ${FLOOR}V${spring}a${radius} ${radius} 0 0 1 ${radius * 2} 0V${FLOOR}z`
}

/** The sun in the doorway, and its light on the floor. */
function sunlight(seed: string, sun: 'still' | 'waiting'): string {
  const number = hash(seed)
  const x = MIDDLE - 26 + (number % 53)
  const y = FLOOR - 8 - ((number >>> 8) % 52)
  const radius = 20 + ((number >>> 16) % 9)
  const lean = (MIDDLE - x) * 2
  return [
    `<clipPath id="opening"><path d="${OPENING}"/></clipPath>`,
    `<g${sun === 'waiting' ? ' class="waiting"' : ''}>`,
    `<circle class="sun" clip-path="url(#opening)" cx="${x}" cy="${y}" r="${radius}"/>`,
    `<path class="shine" d="M${MIDDLE - 48} ${FLOOR}h96L${MIDDLE + 104 + lean} ${HEIGHT}H${MIDDLE - 104 + lean}z"/>`,
    '</g>',
  ].join('')
}

/** FNV-1a: spreads well enough for a drawing. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0
  return value
}

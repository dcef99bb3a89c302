import type { Random } from '../random.ts'
import { createPlane, type Plane } from './canvas.ts'

const SIZE = 512

/**
 * Cloudy noise around 0.5 that tiles seamlessly. It is computed once and then read at any scale, which is far cheaper
 * than computing it for each pixel of a picture.
 */
export function createTile(random: Random, cells: number, octaves: number): Plane {
  const tile = createPlane(SIZE, SIZE)
  let weight = 1
  let total = 0
  for (let octave = 0; octave < octaves && cells << octave <= SIZE; octave++) {
    addOctave(tile, random, cells << octave, weight)
    total += weight
    weight *= 0.5
  }
  for (let index = 0; index < tile.data.length; index++) tile.data[index] = (tile.data[index] ?? 0) / total
  return tile
}

function addOctave(tile: Plane, random: Random, cells: number, weight: number): void {
  const lattice = new Float32Array(cells * cells)
  for (let at = 0; at < lattice.length; at++) lattice[at] = random.next()
  const span = SIZE / cells
  // `columns` and `eased` are the same for each row.
  const columns = Uint16Array.from({ length: SIZE }, (_, x) => Math.floor(x / span))
  const eased = Float64Array.from({ length: SIZE }, (_, x) => ease(x / span - Math.floor(x / span)))
  for (let y = 0; y < SIZE; y++) {
    const row = Math.floor(y / span)
    const upper = row * cells
    const lower = ((row + 1) % cells) * cells
    const v = ease(y / span - row)
    for (let x = 0; x < SIZE; x++) {
      const column = columns[x] ?? 0
      const next = column + 1 === cells ? 0 : column + 1
      const u = eased[x] ?? 0
      const high = (lattice[upper + column] ?? 0) * (1 - u) + (lattice[upper + next] ?? 0) * u
      const low = (lattice[lower + column] ?? 0) * (1 - u) + (lattice[lower + next] ?? 0) * u
      const at = y * SIZE + x
      tile.data[at] = (tile.data[at] ?? 0) + weight * (high * (1 - v) + low * v)
    }
  }
}

function ease(t: number): number {
  return t * t * (3 - 2 * t)
}

/** Interpolates between the tile's points, and wraps around at its edges. */
export function sample(tile: Plane, x: number, y: number): number {
  const left = Math.floor(x)
  const top = Math.floor(y)
  const u = x - left
  const v = y - top
  const x0 = left & (SIZE - 1)
  const x1 = (left + 1) & (SIZE - 1)
  const y0 = (top & (SIZE - 1)) * SIZE
  const y1 = ((top + 1) & (SIZE - 1)) * SIZE
  const { data } = tile
  const high = (data[y0 + x0] ?? 0) * (1 - u) + (data[y0 + x1] ?? 0) * u
  const low = (data[y1 + x0] ?? 0) * (1 - u) + (data[y1 + x1] ?? 0) * u
  return high * (1 - v) + low * v
}

/** The value of the nearest point, for grain and paper, where interpolation would not be visible. */
export function grain(tile: Plane, x: number, y: number): number {
  return tile.data[(y & (SIZE - 1)) * SIZE + (x & (SIZE - 1))] ?? 0
}

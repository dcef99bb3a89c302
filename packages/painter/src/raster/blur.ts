import { createPlane, type Plane } from './canvas.ts'

/** Three box blurs in sequence approximate a Gaussian, at the same cost for every radius. */
export function blurPlane(plane: Plane, radius: number): Plane {
  if (radius < 0.5) return plane
  // A wide blur has no fine detail, so it is computed on a quarter of the pixels or fewer.
  if (radius > 8) return enlarge(blurPlane(halve(plane), radius / 2), plane.width, plane.height)
  const box = Math.max(1, Math.round(radius))
  let from = plane
  for (let pass = 0; pass < 3; pass++) from = blurColumns(blurRows(from, box), box)
  return from
}

function blurRows({ width, height, data }: Plane, box: number): Plane {
  const out = createPlane(width, height)
  const share = 1 / (box * 2 + 1)
  for (let y = 0; y < height; y++) {
    const row = y * width
    let sum = 0
    for (let x = -box; x <= box; x++) sum += data[row + Math.min(width - 1, Math.max(0, x))] ?? 0
    for (let x = 0; x < width; x++) {
      out.data[row + x] = sum * share
      sum += (data[row + Math.min(width - 1, x + box + 1)] ?? 0) - (data[row + Math.max(0, x - box)] ?? 0)
    }
  }
  return out
}

function blurColumns({ width, height, data }: Plane, box: number): Plane {
  const out = createPlane(width, height)
  const share = 1 / (box * 2 + 1)
  // Goes row by row with a sum per column. Reading down single columns would miss the cache at every step.
  const sums = new Float64Array(width)
  for (let y = -box; y <= box; y++) addRow(sums, data, Math.min(height - 1, Math.max(0, y)) * width, 1)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) out.data[y * width + x] = (sums[x] ?? 0) * share
    addRow(sums, data, Math.min(height - 1, y + box + 1) * width, 1)
    addRow(sums, data, Math.max(0, y - box) * width, -1)
  }
  return out
}

function addRow(sums: Float64Array, data: Float32Array, row: number, sign: number): void {
  for (let x = 0; x < sums.length; x++) sums[x] = (sums[x] ?? 0) + sign * (data[row + x] ?? 0)
}

function halve({ width, height, data }: Plane): Plane {
  const out = createPlane(Math.ceil(width / 2), Math.ceil(height / 2))
  for (let y = 0; y < out.height; y++) {
    const upper = y * 2 * width
    const lower = Math.min(height - 1, y * 2 + 1) * width
    for (let x = 0; x < out.width; x++) {
      const left = x * 2
      const right = Math.min(width - 1, left + 1)
      const sum = (data[upper + left] ?? 0) + (data[upper + right] ?? 0) + (data[lower + left] ?? 0) + (data[lower + right] ?? 0)
      out.data[y * out.width + x] = sum / 4
    }
  }
  return out
}

function enlarge({ width, height, data }: Plane, toWidth: number, toHeight: number): Plane {
  const out = createPlane(toWidth, toHeight)
  for (let y = 0; y < toHeight; y++) {
    const from = Math.max(0, (y - 0.5) / 2)
    const y0 = Math.floor(from)
    const y1 = Math.min(height - 1, y0 + 1)
    const v = from - y0
    for (let x = 0; x < toWidth; x++) {
      const across = Math.max(0, (x - 0.5) / 2)
      const x0 = Math.floor(across)
      const x1 = Math.min(width - 1, x0 + 1)
      const u = across - x0
      const high = (data[y0 * width + x0] ?? 0) * (1 - u) + (data[y0 * width + x1] ?? 0) * u
      const low = (data[y1 * width + x0] ?? 0) * (1 - u) + (data[y1 * width + x1] ?? 0) * u
      out.data[y * toWidth + x] = high * (1 - v) + low * v
    }
  }
  return out
}

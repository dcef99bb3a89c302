import { mix, toHex, type Colour } from '@atrium/web/share/colour'
import type { RgbaImage } from '@takumi-rs/core'
import { createHash } from 'node:crypto'
import sharp, { type Sharp } from 'sharp'
import type { Card } from './card.ts'

/**
 * The motif of a card without a picture: arches within arches, with a sun in the doorway. The words determine the
 * sun's position.
 */
export async function drawMotif({ palette, look, seed }: Card, width: number, height: number): Promise<RgbaImage> {
  const digest = createHash('sha256').update(seed).digest()
  const share = (index: number): number => (digest[index] ?? 0) / 255
  const floor = height * 0.86
  const middle = width * (0.46 + share(0) * 0.08)
  const widest = Math.min(width * 0.44, height * 0.46)
  const glow: Colour = look === 'neon' ? [75, 227, 255] : palette.accent
  const arches = [1, 0.78, 0.56, 0.34].map((size, depth) => {
    const radius = widest * size
    const spring = floor - radius * (0.75 + share(1) * 0.25)
    const fill =
      depth === 3 ? mix(palette.background, palette.accent, 0.18) : mix(palette.surface, palette.text, 0.03 + depth * 0.055)
    const outline = look === 'neon' ? ` stroke="${toHex(mix(palette.surface, glow, 0.45 + depth * 0.12))}" stroke-width="2"` : ''
    return `<path d="M${middle - radius} ${floor}V${spring}a${radius} ${radius} 0 0 1 ${radius * 2} 0V${floor}z" fill="${toHex(fill)}"${outline}/>`
  })
  const door = widest * 0.34
  const sun = {
    x: middle - door * 0.5 + share(2) * door,
    y: floor - door * (0.25 + share(3) * 0.95),
    r: door * (0.36 + share(4) * 0.16),
  }
  const lean = (middle - sun.x) * 2.2
  const path = `M${middle - door} ${floor}V${floor - door * (0.75 + share(1) * 0.25)}a${door} ${door} 0 0 1 ${door * 2} 0V${floor}z`
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">`,
    `<rect width="${width}" height="${height}" fill="${toHex(palette.surface)}"/>`,
    ...arches,
    `<clipPath id="door"><path d="${path}"/></clipPath>`,
    `<circle clip-path="url(#door)" cx="${sun.x}" cy="${sun.y}" r="${sun.r}" fill="${toHex(palette.accent)}"/>`,
    `<path d="M${middle - door} ${floor}h${door * 2}L${middle + door * 2.1 + lean} ${height}H${middle - door * 2.1 + lean}z" fill="${toHex(mix(palette.surface, palette.accent, 0.14))}"/>`,
    `<path d="M0 ${floor}H${width}" stroke="${toHex(mix(palette.surface, palette.text, 0.22))}" stroke-width="2"/>`,
    '</svg>',
  ]
  return toRgba(sharp(Buffer.from(svg.join(''))))
}

/** Raw pixels for the renderer, which saves a decoder. */
export async function toRgba(image: Sharp): Promise<RgbaImage> {
  const { data, info } = await image.ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  return { width: info.width, height: info.height, data }
}

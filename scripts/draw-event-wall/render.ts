/** Redraws every picture: `node scripts/draw-event-wall/render.ts [name …]`. */
import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { margin } from './lib/svg.ts'
import { scenes } from './scenes/index.ts'

const pictures = fileURLToPath(new URL('../../examples/event-wall/pictures/', import.meta.url))
const wanted = process.argv.slice(2)
const previews = process.env['PREVIEWS']

await mkdir(pictures, { recursive: true })
for (const [name, draw] of Object.entries(scenes)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const svg = Buffer.from(draw())
  const bled = sharp(svg, { unlimited: true })
  const { width: wide, height: high } = await bled.metadata()
  const sheet = { left: margin, top: margin, width: wide - margin * 2, height: high - margin * 2 }
  const drawn = await bled.extract(sheet).flatten({ background: '#0b1030' }).png({ compressionLevel: 1 }).toBuffer()
  const { size, width, height } = await sharp(drawn).webp({ quality: 82, effort: 6 }).toFile(`${pictures}${name}.webp`)
  console.log(`${name}.webp ${width}×${height}, ${Math.round(size / 1024)} KiB`)
  if (previews !== undefined) {
    await writeFile(`${previews}/${name}.svg`, svg)
    await writeFile(`${previews}/${name}.png`, drawn)
  }
}

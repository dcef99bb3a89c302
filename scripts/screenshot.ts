// Takes the README's pictures of a share page: `node scripts/screenshot.ts LINK`. Without a link it plays the demo
// first.
import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import sharp from 'sharp'
import { skipWithoutChromium, startTestBrowser } from '../packages/web/src/testing/start-test-browser.ts'
import { playDemo } from './demo/play-demo.ts'

interface Shot {
  name: string
  viewport: { width: number; height: number }
  /** Pixels of the picture for each of the page's. */
  scale: number
}

const folder = fileURLToPath(new URL('../docs/images/', import.meta.url))
const shots: Shot[] = [
  { name: 'share-page.png', viewport: { width: 1280, height: 800 }, scale: 1 },
  { name: 'share-page-phone.png', viewport: { width: 390, height: 844 }, scale: 2 },
]

async function take(browser: Browser, url: string, { name, viewport, scale }: Shot): Promise<void> {
  const page = await browser.newPage({ viewport, deviceScaleFactor: scale })
  const answer = await page.goto(url, { waitUntil: 'networkidle' })
  if (answer?.status() !== 200) throw new Error(`${url} answered ${answer?.status()}`)
  const png = await page.screenshot()
  // 256 colours take a third of the bytes and are enough for a picture of this size.
  const { size } = await sharp(png)
    .png({ palette: true, quality: 95, effort: 10, compressionLevel: 9 })
    .toFile(folder + name)
  console.log(`docs/images/${name}  ${viewport.width}×${viewport.height} at ${scale}×, ${Math.round(size / 1024)} KiB`)
  await page.close()
}

if (skipWithoutChromium) throw new Error(skipWithoutChromium)
const url = process.argv[2] ?? (await playDemo()).shareUrl
await mkdir(folder, { recursive: true })
const browser = await startTestBrowser()
try {
  for (const shot of shots) await take(browser, url, shot)
} finally {
  await browser.close()
}

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import sharp from 'sharp'
import { clipPictureWidth, makeClip } from './make-clip.ts'
import { ProduceError } from './produce-error.ts'

const plain = async (colour: string, width = 320, height = 240): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: colour } })
    .png()
    .toBuffer()

async function frame(webp: Buffer, page: number): Promise<[number, number, number]> {
  const { channels } = await sharp(webp, { page }).stats()
  return channels.slice(0, 3).map(({ mean }) => Math.round(mean)) as [number, number, number]
}

const framesOf = async (webp: Buffer) => (await sharp(webp, { animated: true }).metadata()).pages ?? 1

describe('a clip', () => {
  it('shows each picture in its turn, fades between them, and begins again for ever', async () => {
    const { webp, width, height } = await makeClip({
      pictures: [await plain('#f00'), await plain('#00f')],
    })
    const { pages, loop, delay, format } = await sharp(webp, { animated: true }).metadata()
    assert.deepEqual({ format, pages, loop, width, height }, { format: 'webp', pages: 10, loop: 0, width: 320, height: 240 })
    assert.deepEqual(delay, [2200, 60, 60, 60, 60, 2200, 60, 60, 60, 60])
    const [red, between, blue, back] = await Promise.all([0, 2, 5, 8].map(async (page) => frame(webp, page)))
    assert.ok(red![0] > 240 && red![2] < 15)
    assert.ok(between![0] > 80 && between![2] > 60)
    assert.ok(blue![2] > 240 && blue![0] < 15)
    assert.ok(back![0] > 60 && back![2] > 60)
  })

  it('is the same bytes for the same pictures', async () => {
    const pictures = [await plain('#123456'), await plain('#abcdef', 200, 300)]
    assert.ok((await makeClip({ pictures })).webp.equals((await makeClip({ pictures })).webp))
  })

  it('shows the whole of a picture of another shape, on a dim copy of itself', async () => {
    const tower = await sharp({ create: { width: 100, height: 400, channels: 3, background: '#0f0' } })
      .png()
      .toBuffer()
    const { webp, width, height } = await makeClip({ pictures: [await plain('#f00'), await plain('#00f'), tower] })
    const { data } = await sharp(webp, { page: 10 }).removeAlpha().raw().toBuffer({ resolveWithObject: true })
    const green = (x: number, y: number): number => data[(y * width + x) * 3 + 1]!
    assert.ok(green(width / 2, 2) > 230 && green(width / 2, height - 3) > 230)
    assert.ok(green(4, height / 2) > 60 && green(4, height / 2) < 180)
  })

  it('takes the first frame of what is itself animated', async () => {
    const animated = (await makeClip({ pictures: [await plain('#f00'), await plain('#00f')] })).webp
    const { webp } = await makeClip({ pictures: [animated] })
    assert.equal(await framesOf(webp), 1)
    assert.ok((await frame(webp, 0))[0] > 230)
  })

  it('is as large of pictures that were read no wider than it asks for, and stops when told to', async () => {
    for (const [width, height] of [
      [3000, 2000],
      [2000, 3000],
      [1600, 1600],
      [4000, 1000],
    ] as const) {
      const whole = await plain('#f00', width, height)
      const small = await sharp(whole).resize(clipPictureWidth(1, { width, height })).png().toBuffer()
      const [film, same] = [await makeClip({ pictures: [whole] }), await makeClip({ pictures: [small] })]
      assert.deepEqual([same.width, same.height], [film.width, film.height])
    }
    const pictures = [await plain('#f00')]
    await assert.rejects(makeClip({ pictures, signal: AbortSignal.abort(new Error('enough')) }), { message: 'enough' })
  })

  it('of fifty pictures keeps within its bounds', async () => {
    const pictures = await Promise.all(
      Array.from({ length: 50 }, async (_, index) =>
        plain(`hsl(${(index * 151) % 360}, 90%, ${30 + (index % 5) * 10}%)`, 1600, 1200),
      ),
    )
    const { webp, width, height } = await makeClip({ pictures })
    const frames = await framesOf(webp)
    assert.ok(width * height * frames <= 41_000_000, `${width}×${height}×${frames}`)
    assert.ok(frames >= 100)
  })

  it('refuses no pictures, too many, and what is not a picture', async () => {
    const one = await plain('#fff')
    const wrong = [
      { pictures: [] },
      { pictures: Array.from({ length: 51 }, () => one) },
      { pictures: [one, Buffer.from('nothing')] },
      { pictures: [one, one.subarray(0, 60)] },
      { pictures: [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')] },
    ]
    for (const request of wrong)
      await assert.rejects(makeClip(request), (error) => error instanceof ProduceError && error.code === 'bad_input')
  })
})

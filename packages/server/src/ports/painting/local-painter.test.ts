import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import sharp, { type Metadata } from 'sharp'
import { paintInThread } from '@atrium/painter/paint-in-thread'
import { chunksOf, difference, impressionOf } from '@atrium/painter/testing/pixels'
import { createLocalPainter } from './local-painter.ts'

const painter = createLocalPainter('ten_a')
const size = { width: 384, height: 256 }

describe('the painter in the house', () => {
  it('paints the same bytes for the same words, seed and size', async () => {
    const [one, two] = await Promise.all([1, 2].map(async () => painter.paint({ prompt: 'harbour at dusk', seed: 7, ...size })))
    assert.ok(one && two && one.bytes.equals(two.bytes))
    assert.equal(one.alt, two.alt)
  })

  it('paints another picture for another seed, another size or other words', async () => {
    const base = { prompt: 'mountain lake, gouache', seed: 1, ...size }
    const first = await painter.paint(base)
    for (const change of [{ seed: 2 }, { prompt: 'mountain lake at night, gouache' }]) {
      const other = await painter.paint({ ...base, ...change })
      assert.ok((await difference(first.bytes, other.bytes)) > 0.2)
    }
    const upright = await painter.paint({ ...base, width: 256, height: 384 })
    assert.deepEqual(pick(await sharp(upright.bytes).metadata()), { width: 256, height: 384, format: 'png' })
  })

  it('says who painted, with which seed, and what is to be seen, in words of its own', async () => {
    const painted = await painter.paint({ prompt: 'a lighthouse by the sea, woodcut, SECRET-WORD', seed: 5, ...size })
    assert.equal(painted.provider, 'local')
    assert.equal(painted.seed, 5)
    assert.equal(painted.style, 'woodblock')
    assert.match(painted.alt, /woodblock print: .*the open sea.*lighthouse/)
    assert.doesNotMatch(painted.alt, /SECRET/)
  })

  it('writes nothing into the file but the picture', async () => {
    const { bytes: png } = await painter.paint({ prompt: 'forest', seed: 1, ...size })
    assert.deepEqual(
      [...new Set(chunksOf(png))].filter((name) => name !== 'pHYs'),
      ['IHDR', 'IDAT', 'IEND'],
    )
  })

  it('makes a picture and neither noise nor an empty sheet, whatever it is asked', async () => {
    const prompts = [
      '',
      '   ',
      '???',
      'lorem ipsum dolor',
      'x'.repeat(20_000),
      '</svg><image href="file:///etc/passwd"/>',
      '\u0000\uD800',
      '🎉🎉🎉',
      'snow in the desert on the moon',
    ]
    for (const prompt of prompts) {
      const { bytes: png } = await painter.paint({ prompt, seed: 3, ...size })
      const { spread, roughness } = await impressionOf(png)
      assert.ok(spread > 0.04, `empty: ${prompt.slice(0, 20)}`)
      assert.ok(roughness < 0.75, `noise (${roughness}): ${prompt.slice(0, 20)}`)
    }
  })

  it('stops on an abort, with its reason', async () => {
    const stop = new AbortController()
    const painting = painter.paint({ prompt: 'city', seed: 1, width: 2048, height: 2048, signal: stop.signal })
    stop.abort(new Error('enough'))
    await assert.rejects(painting, { message: 'enough' })
    await assert.rejects(painter.paint({ prompt: 'city', seed: 1, ...size, signal: AbortSignal.abort(new Error('before')) }), {
      message: 'before',
    })
  })

  it('holds a picture no longer than its caller does, also while the signal may still abort', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const { signal } = new AbortController()
    const paint = async () => new WeakRef((await paintInThread({ prompt: 'sea', seed: 1, ...size }, signal)).png)
    const png = await paint()
    for (let turn = 0; turn < 20 && png.deref(); turn++) {
      await setImmediate()
      collect()
    }
    assert.ok(png.deref() === undefined)
    assert.equal(signal.aborted, false)
  })

  it('refuses sizes and seeds that it cannot paint', async () => {
    for (const wrong of [{ width: 255 }, { height: 2049 }, { width: 300.5 }, { seed: -1 }, { seed: 0.5 }, { seed: Number.NaN }]) {
      await assert.rejects(painter.paint({ prompt: 'sea', seed: 1, ...size, ...wrong }), RangeError)
    }
  })
})

function pick({ width, height, format }: Metadata): { width: number; height: number; format: string } {
  return { width, height, format }
}

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import fs, { mkdir, mkdtemp, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import sharp, { type Sharp } from 'sharp'
import { pictureLimits } from './assert-acceptable.ts'
import { Pictures } from './pictures.ts'

const pictures = new Pictures()
after(() => pictures.close())

const hidden = Buffer.from('HIDDEN-BEHIND-THE-PICTURE')
const draw = (width = 60, height = 40) => sharp({ create: { width, height, channels: 3, background: { r: 200, g: 30, b: 30 } } })

function clean(bytes: Buffer, by = pictures, tenantId = 'ten_a'): Promise<Buffer> {
  return by.withFolder(async (folder) => {
    const [source, out] = [join(folder, 'source'), join(folder, 'out')]
    await writeFile(source, bytes)
    await by.clean(source, out, await by.inspect(source, tenantId), tenantId)
    return readFile(out)
  }, tenantId)
}

const colourOf = async (bytes: Buffer) => [
  ...(await sharp(bytes).extract({ left: 5, top: 5, width: 1, height: 1 }).raw().toBuffer()),
]

function riff(...chunks: Buffer[]): Buffer {
  const body = Buffer.concat([Buffer.from('WEBP'), ...chunks])
  const head = Buffer.from('RIFF\0\0\0\0')
  head.writeUInt32LE(body.length, 4)
  return Buffer.concat([head, body])
}

test('a WebP loses chunks that are no part of it, and keeps its pixels to the bit', async () => {
  const webp = await draw().webp().toBuffer()
  const chunk = Buffer.concat([Buffer.from('HIDE\x1a\0\0\0', 'latin1'), hidden, Buffer.alloc(1)])
  assert.deepEqual(await clean(riff(webp.subarray(12), chunk)), webp)
})

test('a GIF loses comments and the data of applications, and keeps its pixels to the bit', async () => {
  const gif = await draw().gif().toBuffer()
  const block = Buffer.concat([Buffer.from([hidden.length]), hidden, Buffer.from([0])])
  const comment = Buffer.concat([Buffer.from([0x21, 0xfe]), block])
  const application = Buffer.concat([Buffer.from([0x21, 0xff, 11]), Buffer.from('XMP DataXMP'), block])
  const dirty = Buffer.concat([gif.subarray(0, -1), comment, application, gif.subarray(-1)])
  assert.deepEqual(await clean(dirty), gif)
})

function box(type: string, content: Buffer): Buffer {
  const head = Buffer.from(`\0\0\0\0${type}`, 'latin1')
  head.writeUInt32BE(8 + content.length, 0)
  return Buffer.concat([head, content])
}

/**
 * Puts bytes at the end of a box that lies in the boxes before it, and makes room in all of them, and in where the
 * picture's data is said to be.
 */
function putInto(avif: Buffer, path: string[], more: Buffer): Buffer {
  let [from, end] = [0, avif.length]
  const out = Buffer.from(avif)
  for (const type of path) {
    let at = from
    while (avif.toString('latin1', at + 4, at + 8) !== type) {
      at += avif.readUInt32BE(at)
      assert.ok(at < end, type)
    }
    end = at + avif.readUInt32BE(at)
    out.writeUInt32BE(end - at + more.length, at)
    from = at + 8 + ({ meta: 4, iinf: 6 }[type] ?? 0)
  }
  const grown = Buffer.concat([out.subarray(0, end), more, out.subarray(end)])
  // Version 0, offsets and lengths of 4 bytes, no base or of 4 bytes, one extent: as libheif writes it.
  const iloc = grown.indexOf('iloc') + 4
  assert.deepEqual([grown[iloc], grown[iloc + 4]], [0, 0x44])
  const baseBytes = grown[iloc + 5]! >> 4
  for (let item = 0, at = iloc + 8; item < grown.readUInt16BE(iloc + 6); item++, at += 14 + baseBytes) {
    const offsetAt = at + 6 + baseBytes
    const place = baseBytes > 0 && grown.readUInt32BE(at + 4) > 0 ? at + 4 : offsetAt
    grown.writeUInt32BE(grown.readUInt32BE(place) + more.length, place)
  }
  return grown
}

test('an AVIF loses the metadata in its boxes and keeps its exact pixels', async () => {
  const picture = sharp({ create: { width: 60, height: 40, channels: 4, background: { r: 200, g: 30, b: 30, alpha: 0.5 } } })
  const avif = await picture.avif().toBuffer()
  const text = Buffer.concat([Buffer.alloc(4), hidden, Buffer.alloc(1)])
  const places: [string[], Buffer][] = [
    [['meta'], box('uuid', text)],
    [['meta'], box('free', text)],
    [['meta'], box('xml ', text)],
    [['meta', 'iprp', 'ipco'], box('udes', text)],
    [['meta', 'iprp', 'ipco'], box('uuid', text)],
    [['meta', 'iprp'], box('note', text)],
    [['meta', 'hdlr'], hidden],
    [['meta', 'iinf', 'infe'], hidden],
  ]
  const pixelsOf = (bytes: Buffer) => sharp(bytes).raw().toBuffer()
  const pixels = await pixelsOf(avif)
  for (const [path, more] of places) {
    const dirty = putInto(avif, path, more)
    assert.deepEqual(await pixelsOf(dirty), pixels, `${path.join()}: the sample is a picture`)
    const cleaned = await clean(dirty)
    assert.equal(cleaned.includes(hidden), false, path.join())
    assert.equal(cleaned.length, dirty.length)
    assert.deepEqual(await pixelsOf(cleaned), pixels, path.join())
  }
  assert.deepEqual(
    await pixelsOf(await clean(await picture.rotate(90).avif().toBuffer())),
    await pixelsOf(await picture.rotate(90).avif().toBuffer()),
  )
})

test('an AVIF has zeros where no picture lies, and the same pixels', async () => {
  const avif = await draw().avif().toBuffer()
  const dirty = Buffer.concat([avif, box('free', hidden), box('mdat', hidden)])
  const cleaned = await clean(dirty)
  assert.equal(cleaned.includes(hidden), false)
  assert.equal(cleaned.length, dirty.length)
  assert.deepEqual(await colourOf(cleaned), await colourOf(avif))
})

test('colours of another profile become those of sRGB', async () => {
  const p3 = await draw().withIccProfile('p3').jpeg().toBuffer()
  const plain = await sharp(p3).keepIccProfile().raw().toBuffer()
  const cleaned = await clean(p3)
  const { icc, space } = await sharp(cleaned).metadata()
  assert.deepEqual([icc, space], [undefined, 'srgb'])
  const [red, green] = await colourOf(cleaned)
  assert.ok(Math.abs(red! - 200) < 4 && Math.abs(green! - 30) < 4, `as it was before it got the profile: ${red} ${green}`)
  assert.ok(Math.abs(plain[0]! - 200) > 8, 'in that profile its numbers are others')
})

test('CMYK, 16 bits, grey and transparent pictures are taken', async () => {
  for (const bytes of [
    await draw().toColourspace('cmyk').jpeg().toBuffer(),
    await draw().toColourspace('rgb16').png().toBuffer(),
    await draw().greyscale().png().toBuffer(),
    await draw().greyscale().jpeg().toBuffer(),
    await draw().ensureAlpha(0.5).png().toBuffer(),
    await draw().png({ palette: true }).toBuffer(),
  ]) {
    const { width, height, depth, space } = await sharp(await clean(bytes)).metadata()
    assert.deepEqual([width, height, depth, space], [60, 40, 'uchar', 'srgb'])
  }
})

test('a picture that is too large is rejected from its header, with a reason', async () => {
  const refused = async (image: Sharp, why: RegExp) =>
    assert.rejects(clean(await image.png().toBuffer()), { code: 'refused', message: why })
  await refused(draw(pictureLimits.side + 1, 1), /20000 pixels/)
  await refused(draw(8_000, 6_401), /51200000 pixels/)
})

test('one that takes too long is given up, and the next is served', async () => {
  const slow = new Pictures({ jobMs: 1 })
  await assert.rejects(clean(await draw().png().toBuffer(), slow), { code: 'too_slow' })
  await slow.close()
  assert.ok(await clean(await draw().png().toBuffer()))
})

test('pictures beyond the capacity wait, and are rejected if the queue is full', async () => {
  const bytes = await draw(2_000, 2_000).png().toBuffer()
  const few = new Pictures({ waitMs: 1 })
  const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => clean(bytes, few)))
  await few.close()
  const codes = outcomes.map((one) => (one.status === 'rejected' ? (one.reason as { code: string }).code : 'done'))
  assert.ok(codes.includes('busy'))
  assert.deepEqual(
    codes.filter((code) => code !== 'busy' && code !== 'done'),
    [],
  )
  const patient = new Pictures({ waitMs: 60_000 })
  const all = await Promise.all(Array.from({ length: 12 }, () => clean(bytes, patient)))
  await patient.close()
  assert.equal(all.length, 12)
})

test('a picture that takes longer than expected moves to the slow lane and completes', async () => {
  const strict = new Pictures({ quickJobMs: 1 })
  assert.ok(await clean(await draw().png().toBuffer(), strict))
  await strict.close()
})

/** Noise of so many pixels takes a PNG's encoder seconds. */
async function noisy(side: number): Promise<Buffer> {
  return sharp(randomBytes(side * side * 3), { raw: { width: side, height: side, channels: 3 } })
    .png({ compressionLevel: 0 })
    .toBuffer()
}

test('24 slow pictures of one tenant do not hold up the quick one of another', async () => {
  const shared = new Pictures({ waitMs: 60_000 })
  const [slow, quick] = [await noisy(1_500), await draw().png().toBuffer()]
  await clean(quick, shared, 'ten_b')
  const ended: string[] = []
  const flood = Array.from({ length: 24 }, () => clean(slow, shared, 'ten_a').finally(() => ended.push('slow')))
  await Promise.race(flood)
  const before = ended.length
  await clean(quick, shared, 'ten_b')
  assert.ok(ended.length <= before + 1, `${ended.length - before} of them came first`)
  const second = clean(slow, shared, 'ten_b')
  const begun = ended.length
  await second
  // Its own turn, behind the two that run and one that may have begun meanwhile.
  assert.ok(ended.length - begun <= 4, `${ended.length - begun} of them came first`)
  assert.ok(ended.length < 24)
  await shared.close()
  await Promise.allSettled(flood)
})

test('a folder that cannot be removed does not protect other abandoned ones', async (t) => {
  const inside = await mkdtemp(join(tmpdir(), 'sweep-'))
  t.after(() => rm(inside, { recursive: true }))
  const { TMPDIR: before } = process.env
  t.after(() => {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  })
  process.env['TMPDIR'] = inside
  const folders = ['atrium-picture-1', 'atrium-picture-2', 'atrium-picture-3'].map((name) => join(inside, name))
  const long = new Date(Date.now() - 2 * 60 * 60_000)
  for (const folder of folders) {
    await mkdir(folder)
    await utimes(folder, long, long)
  }
  const remove = fs.rm
  // As of another user: root could remove it.
  const mock = t.mock.method(fs, 'rm', (...args: Parameters<typeof remove>) =>
    args[0] === folders[0] ? Promise.reject(new Error('EACCES')) : remove(...args),
  )
  syncBuiltinESMExports()
  t.after(() => {
    mock.mock.restore()
    syncBuiltinESMExports()
  })
  assert.equal(await pictures.sweep(), 2)
  assert.deepEqual(await readdir(inside), ['atrium-picture-1'])
})

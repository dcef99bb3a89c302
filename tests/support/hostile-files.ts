import { readFile } from 'node:fs/promises'
import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'

export interface HostileFile {
  name: string
  mime: string
  bytes: Buffer
}

const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer).reverse()
const le16 = (value: number) => Buffer.from([value & 255, value >> 8])
const le24 = (value: number) => Buffer.from([value & 255, (value >> 8) & 255, value >> 16])
const le32 = (value: number) => u32(value).reverse()

const pngSignature = Buffer.from('89504e470d0a1a0a', 'hex')

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  return Buffer.concat([u32(data.length), body, u32(crc32(body))])
}

/** A PNG of zeros whose header declares this size. The second size is what it contains. */
function emptyPng(
  side: number,
  { depth = 1, colour = 0, interlaced = false, more = [] as Buffer[], dataBytes = -1 } = {},
): Buffer {
  const channels = { 0: 1, 2: 3, 6: 4 }[colour]!
  const rowBytes = 1 + Math.ceil((side * depth * channels) / 8)
  const header = Buffer.concat([u32(side), u32(side), Buffer.from([depth, colour, 0, 0, interlaced ? 1 : 0])])
  const data = deflateSync(Buffer.alloc(dataBytes < 0 ? rowBytes * side : dataBytes), { level: 9 })
  return Buffer.concat([
    pngSignature,
    pngChunk('IHDR', header),
    ...more,
    pngChunk('IDAT', data),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

function gif(width: number, height: number, frames: number): Buffer {
  const frame = Buffer.concat([
    Buffer.from('21f904040a00000000', 'hex').subarray(0, 8),
    Buffer.from('2c', 'hex'),
    le16(0),
    le16(0),
    le16(1),
    le16(1),
    Buffer.from('0002024401 00'.replaceAll(' ', ''), 'hex'),
  ])
  const head = Buffer.concat([
    Buffer.from('GIF89a'),
    le16(width),
    le16(height),
    Buffer.from('800000', 'hex'),
    Buffer.from('000000ffffff', 'hex'),
  ])
  return Buffer.concat([head, ...Array.from({ length: frames }, () => frame), Buffer.from(';')])
}

function riffChunk(type: string, data: Buffer): Buffer {
  return Buffer.concat([Buffer.from(type, 'latin1'), le32(data.length), data, Buffer.alloc(data.length % 2)])
}

function webp(...chunks: Buffer[]): Buffer {
  const body = Buffer.concat([Buffer.from('WEBP'), ...chunks])
  return Buffer.concat([Buffer.from('RIFF'), le32(body.length), body])
}

/** An animation whose frames are all that still. */
function animatedWebp(still: Buffer, frames: number, side: number): Buffer {
  const place = Buffer.concat([le24(0), le24(0), le24(0), le24(0), le24(10), Buffer.from([0])])
  const frame = riffChunk('ANMF', Buffer.concat([place, still.subarray(12)]))
  const canvas = Buffer.concat([Buffer.from([2, 0, 0, 0]), le24(side - 1), le24(side - 1)])
  return webp(riffChunk('VP8X', canvas), riffChunk('ANIM', Buffer.alloc(6)), ...Array.from({ length: frames }, () => frame))
}

function box(type: string, ...content: Buffer[]): Buffer {
  const data = Buffer.concat(content)
  return Buffer.concat([u32(8 + data.length), Buffer.from(type, 'latin1'), data])
}

const hugeBox = (type: string) => Buffer.concat([u32(1), Buffer.from(type, 'latin1'), Buffer.from('0fffffffffffffff', 'hex')])
const ftyp = box('ftyp', Buffer.from('isom\0\0\0\0isommp42', 'latin1'))

/** The scans of a progressive JPEG, with the last one repeated: each covers the whole picture. */
function manyScans(jpeg: Buffer, times: number): Buffer {
  const last = jpeg.lastIndexOf(Buffer.from('ffda', 'hex'))
  const scan = jpeg.subarray(last, -2)
  return Buffer.concat([jpeg.subarray(0, -2), ...Array.from({ length: times }, () => scan), jpeg.subarray(-2)])
}

const page = Buffer.from('<html><script>alert(document.domain)</script></html>')
/** An empty archive, which programs find from its end. */
const archive = Buffer.concat([Buffer.from('PK\x05\x06', 'latin1'), Buffer.alloc(18)])

/** None of these may become an artifact. */
export async function hostileFiles(): Promise<HostileFile[]> {
  const draw = (width = 400, height = 300) => sharp({ create: { width, height, channels: 3, background: '#a43' } })
  const [png, jpeg, gifStill, webpStill, avif] = await Promise.all([
    draw().png().toBuffer(),
    draw().jpeg().toBuffer(),
    draw().gif().toBuffer(),
    draw().webp().toBuffer(),
    draw().avif({ effort: 0 }).toBuffer(),
  ])
  const [mp4, webm] = await Promise.all(
    ['mp4', 'webm'].map((type) => readFile(new URL(`../../packages/media/testing/clips/tiny.${type}`, import.meta.url))),
  )
  const dot = await draw(1, 1).webp().toBuffer()
  const progressive = await draw(6_000, 6_000).jpeg({ progressive: true }).toBuffer()
  const good: Record<string, Buffer> = {
    'image/png': png,
    'image/jpeg': jpeg,
    'image/gif': gifStill,
    'image/webp': webpStill,
    'image/avif': avif,
    'video/mp4': mp4!,
    'video/webm': webm!,
  }
  const bomb = deflateSync(Buffer.alloc(200 * 1024 * 1024))
  const ispe = avif.indexOf('ispe')
  const hugeAvif = Buffer.from(avif)
  hugeAvif.writeUInt32BE(30_000, ispe + 8)
  hugeAvif.writeUInt32BE(30_000, ispe + 12)
  const hugeJpeg = Buffer.from(jpeg)
  const sof = jpeg.indexOf(Buffer.from('ffc0', 'hex'))
  hugeJpeg.writeUInt16BE(65_500, sof + 5)
  hugeJpeg.writeUInt16BE(65_500, sof + 7)
  const large = (name: string, mime: string, bytes: Buffer) => ({ name, mime, bytes })
  return [
    large('a PNG of 30,000 × 30,000', 'image/png', emptyPng(30_000)),
    large('a PNG that says so and brings nothing', 'image/png', emptyPng(30_000, { dataBytes: 100 })),
    large(
      'an interlaced PNG of 16 bits and 50 megapixels',
      'image/png',
      emptyPng(7_100, { depth: 16, colour: 6, interlaced: true, dataBytes: 1_000 }),
    ),
    large('a JPEG of 65,500 × 65,500', 'image/jpeg', hugeJpeg),
    large('a JPEG of 5,000 scans', 'image/jpeg', manyScans(progressive, 5_000)),
    large('a GIF of 30,000 × 30,000', 'image/gif', gif(30_000, 30_000, 1)),
    large('a GIF of 10,000 frames', 'image/gif', gif(10, 10, 10_000)),
    large('a GIF of 290 frames of 7,000 × 7,000', 'image/gif', gif(7_000, 7_000, 290)),
    large('a WebP of 10,000 frames', 'image/webp', animatedWebp(dot, 10_000, 1)),
    large('a WebP of 290 frames of 10,000 × 5,000', 'image/webp', animatedWebp(dot, 290, 7_000)),
    large('a WebP of 16,383 × 16,383', 'image/webp', webp(riffChunk('VP8L', Buffer.from('2ffffeff0f', 'hex')))),
    large('an AVIF of 30,000 × 30,000', 'image/avif', hugeAvif),
    large(
      'a picture that is cut short in an ICC bomb',
      'image/png',
      emptyPng(100, { more: [pngChunk('iCCP', Buffer.concat([Buffer.from('x\0\0'), bomb]))], dataBytes: 10 }),
    ),
    large(
      'a PNG and a text of 200 MiB that is cut short',
      'image/png',
      emptyPng(100, { more: [pngChunk('zTXt', Buffer.concat([Buffer.from('x\0\0'), bomb]))], dataBytes: 10 }),
    ),
    ...Object.entries(good).flatMap(([mime, bytes]) => [
      { name: `a ${mime} and an archive`, mime, bytes: Buffer.concat([bytes, archive]) },
      { name: `half a ${mime}`, mime, bytes: bytes.subarray(0, mime === 'video/webm' ? 300 : bytes.length >> 1) },
      ...(mime === 'video/webm' ? [] : [{ name: `a ${mime} without its end`, mime, bytes: bytes.subarray(0, -20) }]),
      ...Object.keys(good)
        .filter((other) => other !== mime)
        .map((other) => ({ name: `a ${mime} that is called ${other}`, mime: other, bytes })),
    ]),
    ...(['image/gif', 'image/webp', 'image/png', 'image/avif', 'video/mp4'] as const).map((mime) => ({
      name: `a ${mime} and a page behind it`,
      mime,
      bytes: Buffer.concat([good[mime]!, page]),
    })),
    ...Object.keys(good).flatMap((mime) => [
      { name: `a page called ${mime}`, mime, bytes: page },
      { name: `an SVG called ${mime}`, mime, bytes: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>') },
      { name: `an archive called ${mime}`, mime, bytes: archive },
      { name: `nothing but zeros called ${mime}`, mime, bytes: Buffer.alloc(5_000) },
    ]),
    {
      name: 'a JPEG with a page in its comment',
      mime: 'image/jpeg',
      bytes: Buffer.concat([
        jpeg.subarray(0, 2),
        Buffer.from('fffe', 'hex'),
        Buffer.from([0, page.length + 2]),
        page,
        jpeg.subarray(2),
      ]),
    },
    {
      name: 'a JPEG with a PDF in its comment',
      mime: 'image/jpeg',
      bytes: Buffer.concat([jpeg.subarray(0, 2), Buffer.from('fffe000a', 'hex'), Buffer.from('%PDF-1.7'), jpeg.subarray(2)]),
    },
    { name: 'a GIF that is also a script', mime: 'image/gif', bytes: Buffer.from('GIF89a/*\0\0\0\0\0*/=1;alert(1)') },
    {
      name: 'an MP4 whose box has 2^60 bytes',
      mime: 'video/mp4',
      bytes: Buffer.concat([ftyp, hugeBox('mdat'), Buffer.alloc(100)]),
    },
    {
      name: 'an MP4 whose box has 4 GiB',
      mime: 'video/mp4',
      bytes: Buffer.concat([ftyp, u32(0xffff_ffff), Buffer.from('moov'), Buffer.alloc(100)]),
    },
    {
      name: 'an MP4 whose track is larger than its movie',
      mime: 'video/mp4',
      bytes: Buffer.concat([ftyp, box('moov', u32(5_000), Buffer.from('trak'), Buffer.alloc(50)), Buffer.alloc(5_000)]),
    },
    {
      name: 'an MP4 of a box without bytes',
      mime: 'video/mp4',
      bytes: Buffer.concat([ftyp, u32(4), Buffer.from('moov'), Buffer.alloc(50)]),
    },
    {
      name: 'an MP4 of 500,000 boxes',
      mime: 'video/mp4',
      bytes: Buffer.concat([ftyp, Buffer.concat(Array.from({ length: 500_000 }, () => box('free')))]),
    },
    {
      name: 'an MP4 without a picture',
      mime: 'video/mp4',
      bytes: Buffer.concat([ftyp, box('moov', box('trak', box('tkhd', Buffer.alloc(84)))), box('mdat', Buffer.alloc(99))]),
    },
    { name: 'an MP4 with an unknown box', mime: 'video/mp4', bytes: Buffer.concat([mp4!, box('evil', page)]) },
    {
      name: 'a WebM whose header has 2^56 bytes',
      mime: 'video/webm',
      bytes: Buffer.from('1a45dfa301fffffffffffffe42828477', 'hex'),
    },
    {
      name: 'a WebM whose segment never ends and holds nothing',
      mime: 'video/webm',
      bytes: Buffer.concat([webm!.subarray(0, 36), Buffer.from('1853806701ffffffffffffff', 'hex'), Buffer.alloc(500, 0xec)]),
    },
    {
      name: 'a Matroska file that is called WebM',
      mime: 'video/webm',
      bytes: Buffer.from(webm!.toString('latin1').replace('webm', 'mkv\0'), 'latin1'),
    },
  ]
}

import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test, type TestContext } from 'node:test'
import { Listener } from '@atrium/traffic/listener'
import { statement } from '#db/database.ts'
import { send, type Got } from '#testing/http.ts'
import { eventually } from '#testing/session-world.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'
import { PictureChild } from '@atrium/media/pictures/picture-child'
import { PictureError } from '@atrium/media/pictures/picture-error'
import { gradient, located } from '@atrium/media/testing/sample-pictures'
import { StoredWorld, type Place } from '#testing/artifacts/stored-world.ts'
import { ArtifactGenerator } from './artifact-generator.ts'

let api: TestApi
let world: StoredWorld
let place: Place
let generator: ArtifactGenerator
let host: Server
/** The files of the host, by path. */
const hosted = new Map<string, Buffer>()

before(async () => {
  host = createServer((req, res) => {
    const bytes = hosted.get(req.url ?? '')
    res.writeHead(bytes ? 200 : 404).end(bytes)
  })
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
  const publicUrl = `http://127.0.0.1:${(host.address() as AddressInfo).port}`
  api = await startTestApi({ egress: 'loopback', publicUrl })
  world = await StoredWorld.open(api)
  place = await world.makeCollection()
  generator = await startGenerator()
})

after(async () => {
  await generator.stop()
  await api.close()
  host.close()
})

async function startGenerator(): Promise<ArtifactGenerator> {
  const started = new ArtifactGenerator(api.ctx, api.databaseUrl, 1)
  await started.start()
  return started
}

async function hostPicture(name: string, bytes: Buffer): Promise<string> {
  hosted.set(`/${name}`, bytes)
  const body = { kind: 'image', url: `${api.ctx.config.publicUrl}/${name}` }
  return (await send(api, 'POST', `/collections/${place.id}/artifacts`, { ...place.owner, body })).body.data.id
}

const produce = (body: object) => send(api, 'POST', `/collections/${place.id}/produce`, { ...place.owner, body })

async function made(started: Got) {
  const { id } = started.body.data
  const isDone = async () => {
    const { data } = (await world.get(place, id)).body
    return data.stage === 'done' && data
  }
  return eventually(isDone, 'it is made, or not', 30_000)
}

/** Records the order in which pictures are read and shrunk. */
function watch(t: TestContext, happens: () => void = () => undefined): string[] {
  const seen: string[] = []
  const { blobs, egress, pictures } = api.ctx
  const read = blobs.read.bind(blobs)
  const fetched = egress.send.bind(egress)
  const shrink = pictures.shrink.bind(pictures)
  t.mock.method(blobs, 'read', (...args: Parameters<typeof read>) => {
    seen.push('read')
    return read(...args)
  })
  t.mock.method(egress, 'send', (...args: Parameters<typeof fetched>) => {
    seen.push('read')
    return fetched(...args)
  })
  t.mock.method(pictures, 'shrink', async (...args: Parameters<typeof shrink>) => {
    await shrink(...args)
    seen.push('shrunk')
    happens()
  })
  return seen
}

test('each picture of a clip, uploaded or hosted, is shrunk in a picture process before the next one is read', async (t) => {
  const artifacts = [
    (await world.upload(place, await gradient(900, 600).png().toBuffer(), 'image/png')).id,
    await hostPicture('a.jpg', await gradient(1200, 800).jpeg().toBuffer()),
    await hostPicture('b.avif', await located('avif')),
  ]
  const seen = watch(t)
  const clip = await made(await produce({ kind: 'clip', artifacts }))
  assert.deepEqual([clip.status, clip.width, clip.height], ['ready', 1024, 682])
  assert.deepEqual(seen, ['read', 'shrunk', 'read', 'shrunk', 'read', 'shrunk'])
  const card = await made(await produce({ kind: 'card', template: 'cover', artifacts: [artifacts[1]] }))
  assert.equal(card.status, 'ready')
  assert.deepEqual(seen.slice(6), ['read', 'shrunk'])
})

test('a picture process returns a picture as small as the clip', async (t) => {
  const artifacts = [await hostPicture('large.jpg', await gradient(6000, 4000).jpeg().toBuffer())]
  const shrink = t.mock.method(api.ctx.pictures, 'shrink')
  assert.equal((await made(await produce({ kind: 'clip', artifacts }))).width, 1024)
  const asked = shrink.mock.calls[0]!.arguments[2]
  assert.ok(asked.width < 1400, `${asked.width}`)
})

test('a rotated picture is shown upright', async () => {
  const clip = await made(await produce({ kind: 'clip', artifacts: [await hostPicture('lying.jpg', await located('jpeg', 6))] }))
  assert.deepEqual([clip.status, clip.width < clip.height], ['ready', true])
})

test('a file that is not an accepted picture fails the job, and the error names the artifact', async () => {
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="99" height="99"/>')
  const cut = (await gradient(400, 300).png().toBuffer()).subarray(0, 300)
  for (const bytes of [svg, await gradient(99, 99).tiff().toBuffer(), cut, Buffer.from('GIF89a'), Buffer.alloc(0)]) {
    const id = await hostPicture('wrong', bytes)
    for (const kind of ['card', 'clip']) {
      const failed = await made(await produce({ kind, artifacts: [id] }))
      assert.deepEqual([failed.status, failed.error.code], ['failed', 'bad_input'])
      assert.ok(failed.error.message.includes(id))
    }
  }
})

test('one picture with too many bytes fails with its own code, hosted or uploaded', async () => {
  const large = await hostPicture('too-large', Buffer.alloc(16 * 1024 * 1024 + 1))
  const uploaded = (await world.upload(place, await gradient(40, 40).png().toBuffer(), 'image/png')).id
  const grow = statement<never>('test-grow', 'update artifacts set bytes = 64 * 1024 * 1024 + 1 where id = $1')
  await api.ctx.db.query(grow, [uploaded])
  for (const id of [large, uploaded]) {
    const failed = await made(await produce({ kind: 'clip', artifacts: [id] }))
    assert.deepEqual([failed.status, failed.error.code], ['failed', 'picture_too_large'])
  }
})

test('a picture process that is killed delays a card, and does not fail it', async (t) => {
  const run = PictureChild.prototype.run
  let killed = 0
  t.mock.method(PictureChild.prototype, 'run', function (this: PictureChild, ...args: Parameters<typeof run>) {
    // An inspection is tried in both lanes.
    if (++killed <= 2) this.end()
    return run.apply(this, args)
  })
  const artifacts = [await hostPicture('good.png', await gradient(300, 200).png().toBuffer())]
  assert.equal((await made(await produce({ kind: 'card', artifacts }))).status, 'ready')
  assert.ok(killed > 2)
})

test('a card waits while the disk is full or too many pictures wait, however often it is tried', async (t) => {
  const artifacts = [await hostPicture('waits.png', await gradient(300, 200).png().toBuffer())]
  const { db, pictures } = api.ctx
  const withFolder = pictures.withFolder.bind(pictures)
  let refused = 0
  t.mock.method(pictures, 'withFolder', (...args: Parameters<typeof withFolder>) => {
    if (++refused > 6) return withFolder(...args)
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    return Promise.reject(refused % 2 === 0 ? full : new PictureError('busy', 'Too many pictures at once.'))
  })
  const started = await produce({ kind: 'card', artifacts })
  const due = statement<never>('test-due', 'update artifact_jobs set run_at = now() where artifact_id = $1 and run_at > now()')
  const timer = setInterval(() => void db.query(due, [started.body.data.id]).catch(() => undefined), 100)
  t.after(() => clearInterval(timer))
  assert.equal((await made(started)).status, 'ready')
  assert.equal(refused, 7)
})

test('the hosts of all pictures of a job may take a minute together', async (t) => {
  const artifacts = []
  for (const name of ['1', '2', '3', '4', '5', '6', '7'])
    artifacts.push(await hostPicture(`slow-${name}.png`, await gradient(90, 60).png().toBuffer()))
  const { egress } = api.ctx
  const fetched = egress.send.bind(egress)
  const now = performance.now.bind(performance)
  let passedMs = 0
  const limitsMs: number[] = []
  t.mock.method(performance, 'now', () => now() + passedMs)
  t.mock.method(egress, 'send', async (...args: Parameters<typeof fetched>) => {
    limitsMs.push(args[0].timeoutMs!)
    const answer = await fetched(...args)
    passedMs += 14_000
    return answer
  })
  const failed = await made(await produce({ kind: 'clip', artifacts }))
  assert.deepEqual([failed.status, failed.error.code], ['failed', 'bad_input'])
  assert.match(failed.error.message, /longer than 60 s/)
  assert.equal(limitsMs.length, 5)
  assert.ok(limitsMs.at(-1)! <= 4_000, `${limitsMs}`)
})

const leased = statement<object>('test-leased', 'select 1 from artifact_jobs where lease_owner is not null')

test('a worker that stops reads no further picture, and another worker finishes the job', async (t) => {
  const artifacts = await Promise.all(
    [1, 2, 3, 4].map(async (n) =>
      hostPicture(
        `${n}.png`,
        await gradient(100 + n, 80)
          .png()
          .toBuffer(),
      ),
    ),
  )
  let stopping: Promise<void> | undefined
  // The slowest possible stop: the listener closes only when all work has ended.
  const close = Listener.prototype.close
  t.mock.method(Listener.prototype, 'close', async function (this: Listener) {
    await eventually(async () => (await api.ctx.db.query(leased, [])).length === 0, 'nothing is worked on', 20_000)
    await close.call(this)
  })
  const seen = watch(t, () => (stopping ??= generator.stop()))
  const started = await produce({ kind: 'clip', artifacts })
  await eventually(async () => stopping !== undefined, 'the first one is shrunk', 20_000)
  await stopping
  t.mock.restoreAll()
  assert.deepEqual(seen, ['read', 'shrunk'])
  generator = await startGenerator()
  assert.equal((await made(started)).status, 'ready')
})

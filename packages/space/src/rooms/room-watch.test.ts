import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { passesOnce } from '../../../server/testing/busy-machine.ts'
import { startTestSpace } from '../testing/test-space.ts'

const fresh = () => ({ room: `r${randomBytes(8).toString('hex')}`, mk: randomBytes(32).toString('base64url') })

test('a held poll gets within two seconds what nobody notified it of: a line, or that the room is gone', async (t) => {
  const space = await startTestSpace()
  t.after(() => space.close())
  const say = (secret: object, text: string) => space.call('turn', { ...secret, message: { text } })
  await passesOnce(async () => {
    const [talked, removed] = [fresh(), fresh()]
    const one = (await say(talked, 'one')).body
    const two = (await say(talked, 'two')).body
    // As a process that ends between the commit and the notification: the end of the room moves, and nobody is told.
    const moveTo = ({ etag, count }: { etag: string; count: number }) =>
      space.db.query('update rooms set etag = $2, count = $3 where room = $1', [talked.room, etag, count])
    await moveTo(one)
    const since = (body: typeof one) => ({ sinceEtag: body.etag, sinceCount: body.count, waitMs: 20_000 })
    const polls = [
      space.call('poll', { ...talked, ...since(one) }),
      space.call('poll', { ...removed, ...since((await say(removed, 'one')).body) }),
    ]
    await space.untilHeld(2)
    const startedAt = performance.now()
    await moveTo(two)
    await space.db.query('select remove_room($1)', [removed.room])
    const [line, gone] = await Promise.all(polls)
    assert.deepEqual(
      line?.body.entries.map((entry: any) => entry.message.text),
      ['two'],
    )
    assert.equal(gone?.status, 404)
    assert.ok(performance.now() - startedAt < 5_000, 'and not when the poll ends')
  })
})

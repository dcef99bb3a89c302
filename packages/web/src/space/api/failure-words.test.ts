import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SpaceCallError } from '@atrium/room-client/space-call-error'
import { t } from '../text/text.ts'
import { failureWords } from './failure-words.ts'

const conflict = (reason: string) =>
  failureWords(new SpaceCallError({ status: 409, error: 'room_exists', reason, message: reason }))

test('each reason of a conflict has its own explanation', () => {
  const { roomExists, badRoomKey, listChanged } = t.failures
  const expected = { room: roomExists, client_sealed: badRoomKey, server_sealed: badRoomKey, list_changed: listChanged }
  for (const [reason, words] of Object.entries(expected)) assert.equal(conflict(reason), words, reason)
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { RoomEntry } from '../agent-room.ts'
import { turnToAnswer } from './turn-to-answer.ts'

const self = { id: 'agt_self', name: 'Old Lamplighter' }

/** `p: text` a person, `s: text` the agent itself, `o: text` another agent; numbered from 1. */
function room(...lines: string[]): RoomEntry[] {
  return lines.map((line, i) => {
    const kind = line.startsWith('p') ? ('anonymous' as const) : ('agent' as const)
    const id = line.startsWith('s') ? self.id : 'agt_other'
    const author = kind === 'agent' ? { kind, id } : { kind }
    return { seq: i + 1, id: `e${i + 1}`, author, message: { text: line.slice(3) } }
  })
}

const answered = (entries: RoomEntry[], after: number) => turnToAnswer(entries, self, after)?.seq

describe('the agent answers', () => {
  test('the newest turn of a person, once for several that came together', () => {
    assert.equal(answered(room('p: hello', 'p: are you there?'), 0), 2)
  })
  test('nothing that it has answered', () => {
    assert.equal(answered(room('p: hello', 's: good evening'), 1), undefined)
  })
  test('never its own turns', () => {
    assert.equal(answered(room('s: Old Lamplighter speaking'), 0), undefined)
  })
  test('a person, also where agents have spoken since', () => {
    assert.equal(answered(room('p: hello', 'o: hi'), 0), 1)
  })
  test('another agent that names it, in any case and punctuation', () => {
    assert.equal(answered(room('p: hello', 'o: @old-lamplighter, what do you think?'), 1), 2)
    assert.equal(answered(room('p: hello', 'o: the lamplighter is old'), 1), undefined)
    assert.equal(answered(room('p: hello', 'o: cold lamplighters'), 1), undefined)
  })
  test('at most three turns of agents in a row: then a person has to speak', () => {
    const talk = room('p: begin', 's: Other, you?', 'o: Old Lamplighter, you?', 's: Other, you?', 'o: Old Lamplighter, you?')
    assert.equal(answered(talk.slice(0, 3), 2), 3)
    assert.equal(answered(talk, 4), undefined)
    assert.equal(answered([...talk, ...room('p: go on').map((entry) => ({ ...entry, seq: 6 }))], 4), 6)
  })
})

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openClientSealedRoom } from '../packages/client/src/client-sealed-room.ts'
import { generateDevicePairs, openListedRoom, roomDeviceOf } from '../packages/client/src/listed-room.ts'
import { newRoomSecret } from '../packages/client/src/new-room-secret.ts'
import { startTestSpace, type TestSpace } from '../packages/space/src/testing/test-space.ts'
import { skipWithout } from './support/skip-without.ts'

const page = readFileSync(join(import.meta.dirname, '../docs/verification.md'), 'utf8')
const [lines, opening, refusal, lists] = [...page.matchAll(/^```shell\n([\s\S]*?)^```$/gm)].map(([, block]) => block ?? '')
const skip = skipWithout('openssl', 'curl', 'jq', 'jose')
const audience = 'https://rooms.example'

let space: TestSpace
const folder = mkdtempSync(join(tmpdir(), 'atrium-verification-sealed-'))
before(async () => {
  space = await startTestSpace({ ATRIUM_SPACES_URL: audience })
})
after(async () => {
  await space?.close()
  rmSync(folder, { recursive: true })
})

/** Runs commands of the page after the function of its first step that they need. */
function run(commands: string, variables: Record<string, string>): Promise<{ isGood: boolean; output: string }> {
  const text = `same() { test "$1" = "$2" && echo same || { echo DIFFERENT; false; }; }\n${commands}`
  const env = { ...process.env, SPACES: space.origin, ...variables }
  return new Promise((resolve) =>
    execFile('bash', ['-euo', 'pipefail', '-c', text], { cwd: folder, env }, (error, stdout, stderr) =>
      resolve({ isGood: !error, output: stdout + stderr }),
    ),
  )
}

const more = () => ({ spaceUrl: `${space.origin}/space`, audience })
const fetched = (change: string) => lines!.replace(/^echo "\$\(jq -r \.sha256.*$/m, change)

test('the commands of docs/verification.md open an open client-sealed room, and find what was changed', { skip }, async () => {
  const room = openClientSealedRoom({ ...more(), ...newRoomSecret() })
  await room.make()
  await room.say('Are the lamps lit?')
  await room.say('They are.')
  const variables = { ROOM: room.room, MK: room.mk }
  const good = await run(lines! + opening! + refusal!, variables)
  assert.ok(good.isGood, good.output)
  assert.match(good.output, /lines\.txt: OK/)
  assert.match(good.output, /the history ends in [\w-]{43}\n[\s\S]*"text":"Are the lamps lit\?"[\s\S]*"text":"They are\."/)
  const changes = {
    'a line is missing': fetched('sed -i 2d lines.txt'),
    'a line is altered': fetched('sed -i \'2s/"tag":"/&A/\' lines.txt'),
    'another key': lines! + opening!.replace('key:$MK', 'key:x$MK'),
    'another room': lines! + opening!.replace('$ROOM 0', 'x$ROOM 0'),
  }
  for (const [name, commands] of Object.entries(changes)) {
    const bad = await run(commands, variables)
    assert.ok(!bad.isGood && !bad.output.includes('They are.'), `${name}: ${bad.output}`)
  }
  const accepted = await run(refusal!.replace('"op":"poll"', '"op":"sealed"'), variables)
  assert.ok(!accepted.isGood && accepted.output.endsWith('DIFFERENT\n'), accepted.output)
})

test('they check the lists of a room with devices', { skip }, async () => {
  const device = await roomDeviceOf(await generateDevicePairs())
  const room = openListedRoom({ ...more(), room: newRoomSecret().room, device })
  await room.make()
  await room.invite('Grace')
  await room.say('Hello.')
  await room.expel((await room.invitations()).map(({ key }) => key))
  const variables = { ROOM: room.room, OWNER: device.signing.thumbprint }
  const good = await run(lines! + lists!, variables)
  assert.ok(good.isGood && good.output.endsWith('the key has changed 1 times\n'), good.output)
  const other = await run(lines! + lists!, { ...variables, OWNER: 'A'.repeat(43) })
  assert.ok(!other.isGood && other.output.endsWith('DIFFERENT\n'), other.output)
  const missing = await run(`${lines}\nsed -i 2d lines.txt\n${lists}`, variables)
  assert.ok(!missing.isGood, missing.output)
  const open = openClientSealedRoom({ ...more(), ...newRoomSecret() })
  await open.make()
  const unlisted = await run(lines! + lists!, { ...variables, ROOM: open.room })
  assert.ok(!unlisted.isGood && unlisted.output.endsWith('no list comes before this line\n'), unlisted.output)
})

import { encodeBase64url } from '@atrium/sealing/base64url'
import {
  type ClientKeys,
  deriveClientKeys,
  derivePolicyKey,
  openStoredLine,
  parseStoredLine,
  padded,
  utf8,
} from '@atrium/sealing/client-sealed'
import { openPolicyLine, parsePolicyLine, sealPolicyLine } from '@atrium/sealing/policy-line'
import { encrypt } from '@atrium/sealing/web-cipher'
import { openDeviceRecipient } from '@atrium/sealing/web-recipient'
import { sha256Base64url } from '../identity.ts'
import type { RoomDevice } from '../room-device.ts'
import { mutateJson, mutateText, pick } from './mutate-json.ts'
import { devices, mks, owner, room } from './tampered-listed-rooms.ts'
import { keys as openKeys, pageOf, restored } from './tampered-rooms.ts'

type Random = () => number

export interface MutatedRoom {
  readonly how: string
  readonly pages: object[]
}

const text = (part: string) => Buffer.from(part, 'base64url').toString()
const coded = (part: string) => encodeBase64url(utf8(part))
const mutated = (json: string, random: Random) => (random() < 0.8 ? mutateJson(json, random) : mutateText(json, random))

/** The line sealed again, with another header or another content. */
async function sealed({ line }: ClientKeys, header: string, content: Uint8Array<ArrayBuffer>): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const { ciphertext, tag } = await encrypt({ contentKey: line, iv, aad: utf8(header) }, content)
  const parts = { iv: encodeBase64url(iv), ciphertext: encodeBase64url(ciphertext), tag: encodeBase64url(tag) }
  return JSON.stringify({ protected: header, ...parts })
}

/** The JWS with something else in it, signed again by the device that had signed it, if it is one of the test. */
async function resigned(jws: string, by: RoomDevice, random: Random): Promise<{ text: string; how: string }> {
  const [head = '', payload = '', signature = ''] = jws.split('.')
  const which = pick(random, ['header', 'payload', 'payload', 'payload', 'signature', 'text'])
  if (which === 'text') return mutateText(jws, random)
  if (which === 'signature') {
    const { text: other, how } = mutateText(signature, random)
    return { text: `${head}.${payload}.${other}`, how: `signature ${how}` }
  }
  const { text: other, how } = mutated(text(which === 'header' ? head : payload), random)
  const signed = which === 'header' ? `${coded(other)}.${payload}` : `${head}.${coded(other)}`
  return { text: `${signed}.${encodeBase64url(await by.signing.sign(utf8(signed)))}`, how: `${which} ${how}` }
}

/** What a member seals: a message, an answer or a card, with something else in it. */
async function recontent(line: string, keys: ClientKeys, random: Random): Promise<{ line: string; how: string }> {
  const stored = parseStoredLine(line)
  const { content } = await openStoredLine(keys, stored)
  const which = pick(random, ['header', 'content', 'content', 'content', 'bytes', 'card'])
  if (which === 'header') {
    const { text: header, how } = mutated(text(stored.header), random)
    return { line: await sealed(keys, coded(header), padded(utf8(content))), how: `header ${how}` }
  }
  if (which === 'bytes') {
    const bytes = padded(utf8(content))
    bytes[Math.floor(random() * bytes.length)] = pick(random, [0xff, 0xc0, 0x80, 0x00, 0x20, 0x0a, 0xed])
    return { line: await sealed(keys, stored.header, bytes), how: 'a byte' }
  }
  const [head = '', payload = ''] = content.split('.')
  if (content.startsWith('{')) {
    const { text: other, how } = mutated(content, random)
    return { line: await sealed(keys, stored.header, padded(utf8(other))), how: `content ${how}` }
  }
  const { kid } = JSON.parse(text(head)) as { kid: string }
  const by = devices.find(({ signing }) => signing.thumbprint === kid) ?? owner
  const record = JSON.parse(text(payload)) as { card?: string }
  if (which === 'card' && record.card !== undefined) {
    const { spk } = JSON.parse(text(record.card.split('.')[1]!)) as { spk: { x: string } }
    const own = devices.find(({ signing }) => signing.spk.x === spk.x) ?? owner
    const { text: card, how } = await resigned(record.card, own, random)
    const signed = `${head}.${coded(JSON.stringify({ ...record, card }))}`
    const jws = `${signed}.${encodeBase64url(await by.signing.sign(utf8(signed)))}`
    return { line: await sealed(keys, stored.header, padded(utf8(jws))), how: `card ${how}` }
  }
  const { text: other, how } = await resigned(content, by, random)
  return { line: await sealed(keys, stored.header, padded(utf8(other))), how }
}

/** A list, with something else in what the owner has signed or sealed, or in the recipients. */
async function relisted(line: string, random: Random): Promise<{ line: string; how: string }> {
  const stored = parsePolicyLine(line)!
  const which = pick(random, ['policy', 'policy', 'content', 'content', 'recipients', 'header'])
  const { unprotected: _place, ...jwe } = JSON.parse(line) as { unprotected: object; protected: string; recipients: object[] }
  if (which === 'recipients') {
    const { text: other, how } = mutated(JSON.stringify(jwe.recipients), random)
    return {
      line: JSON.stringify({ ...jwe, recipients: [] }).replace('"recipients":[]', () => `"recipients":${other}`),
      how: `recipients ${how}`,
    }
  }
  if (which === 'header') {
    const { text: header, how } = mutated(text(jwe.protected), random)
    return { line: JSON.stringify({ ...jwe, protected: coded(header) }), how: `list header ${how}` }
  }
  const contentKey = await openDeviceRecipient(owner.privateKey, stored.recipients[0]!)
  let content = await openPolicyLine(contentKey, stored)
  let policy = stored.policy
  let how: string
  if (which === 'content') {
    const changed = mutated(content, random)
    how = `sealed ${changed.how}`
    content = changed.text
    const [head = '', payload = ''] = policy.split('.')
    const claims = { ...(JSON.parse(text(payload)) as object), content: await sha256Base64url(content.replace(/ +$/, '')) }
    const signed = `${head}.${coded(JSON.stringify(claims))}`
    policy = `${signed}.${encodeBase64url(await owner.signing.sign(utf8(signed)))}`
  } else {
    const changed = await resigned(policy, owner, random)
    policy = changed.text
    how = `policy ${changed.how}`
  }
  const { generation } = JSON.parse(text(stored.policy.split('.')[1]!)) as { generation: number }
  const policyKey = await derivePolicyKey({ room, mk: mks[generation]! })
  const to = stored.recipients.slice(0, -1).map(({ header: { kid } }) => {
    return { kid, key: devices.find(({ signing }) => signing.thumbprint === kid)!.encryption }
  })
  return { line: await sealPolicyLine({ policy, content, policyKey, devices: to }), how }
}

/** An honest room, of which one line or page is different. `sealed`: the lines as clients send them. `lines`: as stored. */
export async function mutateRoom(
  { lines, sealed: sent, isListed }: { lines: readonly string[]; sealed: readonly string[]; isListed: boolean },
  random: Random,
): Promise<MutatedRoom> {
  const at = Math.floor(random() * lines.length)
  const which = pick(random, ['inside', 'inside', 'inside', 'inside', 'stored', 'sent', 'page', 'order'])
  let changed = [...lines]
  let how = ''
  let more: Record<string, unknown> = {}
  if (which === 'inside') {
    const line = lines[at]!
    const isList = isListed && line.includes('"recipients"')
    const generation = isListed ? generationOf(line) : 0
    const keys = isListed ? await deriveClientKeys({ room, mk: mks[generation]! }, generation) : openKeys
    const other = isList ? await relisted(line, random) : await recontent(line, keys, random)
    how = other.how
    changed = await restored([...sent.slice(0, at), other.line, ...(random() < 0.3 ? sent.slice(at + 1) : [])])
  } else if (which === 'stored' || which === 'sent') {
    const other = mutateText(which === 'sent' ? sent[at]! : lines[at]!, random)
    how = other.how
    changed = which === 'sent' ? await restored(sent.with(at, other.text)) : lines.with(at, other.text)
  } else if (which === 'page') {
    more = pick(random, [
      { count: lines.length - 1 },
      { count: lines.length + 1 },
      { etag: 'A'.repeat(43) },
      { count: 0 },
      { etag: '' },
    ])
    how = JSON.stringify(more)
  } else {
    const to = Math.floor(random() * lines.length)
    how = `to ${to}`
    const moved = random() < 0.5 ? sent.toSpliced(at, 1).toSpliced(to, 0, sent[at]!) : sent.toSpliced(to, 0, sent[at]!)
    changed = random() < 0.5 ? await restored(moved) : lines.toSpliced(at, 1)
  }
  const cut = random() < 0.5 ? 0 : Math.floor(random() * changed.length)
  const pages = [...(cut > 0 ? [await pageOf(changed.slice(0, cut))] : []), await pageOf(changed.slice(cut), more, cut)]
  return { how: `${which} ${at}: ${how}`, pages }
}

function generationOf(line: string): number {
  const header = JSON.parse(text((JSON.parse(line) as { protected: string }).protected)) as { generation?: number }
  return header.generation ?? 0
}

import { decodeBase64url, encodeBase64url } from '@atrium/sealing/base64url'
import { openSealedToKey } from '@atrium/sealing/seal-to-key'
import type { WebCryptoKey } from '@atrium/sealing/web-crypto-key'
import type { EcPublicKey } from '@atrium/sealing/web-recipient'
import type { SessionLaunchedSealed } from './agent-request.ts'
import {
  answerInvitation,
  generateDevicePairs,
  type ListedEntry,
  type ListedRoom,
  NotListedError,
  openListedRoom,
  type RoomDevice,
  roomDeviceOf,
} from './listed-room.ts'
import { type JoinOptions, openControl } from './remote-agent.ts'
import { wait } from './retry.ts'
import { type SessionState, SessionWatch } from './session-watch.ts'

export { generateDevicePairs, type RoomDevice, roomDeviceOf } from './listed-room.ts'
export { SessionOverError, type SessionState } from './session-watch.ts'

/** The key of an agent as a private JWK: `d` stays with the agent. */
export interface AgentKey extends EcPublicKey {
  readonly d: string
}

const curve = { name: 'ECDH', namedCurve: 'P-256' }

/** Makes the key of an agent. Keep it as a secret, and register the agent with `encryption_key: publicPartOf(key)`. */
export async function generateAgentKey(): Promise<AgentKey> {
  const { privateKey } = await crypto.subtle.generateKey(curve, true, ['deriveBits'])
  const { x = '', y = '', d = '' } = await crypto.subtle.exportKey('jwk', privateKey)
  return { kty: 'EC', crv: 'P-256', x, y, d }
}

/** The `encryption_key` of an agent with this key. */
export function publicPartOf({ kty, crv, x, y }: AgentKey): EcPublicKey {
  return { kty, crv, x, y }
}

/** The launch has nothing for this key, room and agent. */
export class SealedKeyError extends Error {
  override readonly name = 'SealedKeyError'

  constructor() {
    super(
      'The launch was not sealed to this key, or is for another room or agent. Check that the agent is registered with the ' +
        'public part of this key.',
    )
  }
}

export interface JoinSealedOptions extends JoinOptions {
  /** The private key whose public part is the `encryption_key` of the agent. */
  agentKey: AgentKey
  /** A name that the card of the agent's device has. Nobody verifies it. */
  name?: string
  /**
   * The device that joins. Default: one for each session, whose keys cannot be exported. An agent that may restart while a
   * launch is repeated keeps the device itself.
   */
  device?: RoomDevice
}

/** An agent can wait: it retries for about half a minute while the Space service is unavailable. */
const retries = 10

const admittedIntervalMs = 500

/**
 * Joins the session of a launch into a room whose key never reaches a server: opens the invitation that was sealed to
 * the agent's key, answers it with a device, waits until the owner's client has admitted the device, and confirms the
 * join. From then on the price is due, in credits. Without a confirmation within 30 seconds the session fails.
 *
 * Throws SealedKeyError; SessionOverError if the session has ended meanwhile; NotListedError if the invitation was taken
 * back; AtriumError.
 *
 * @example
 * if (request.type !== 'session.launched_sealed') return
 * const session = await joinSealedSession(request, { agentKey, name: 'Dice' })
 * for await (const entry of session.entries) await session.reply(entry, `You said: ${entry.message.text}`)
 */
export async function joinSealedSession(
  launch: SessionLaunchedSealed,
  { agentKey, name, device, lookEveryMs = 3_000, ...net }: JoinSealedOptions,
): Promise<SealedAgentSession> {
  const invitation = await openInvitation(launch, agentKey)
  const { session_id: id, space_url: spaceUrl, space_origin: audience } = launch
  const control = openControl(launch, net)
  const own = device ?? (await deviceOf(launch))
  const replyKey = await deriveReplyKey(agentKey, id)
  const named = name === undefined ? {} : { name }
  const room = await enter(invitation, { spaceUrl, audience, device: own, ...named, retries, ...net })
  const watch = new SessionWatch({ id, control, lookEveryMs, wait: net.wait ?? wait })
  try {
    const before = await readOnceAdmitted(room, watch)
    const { data } = await control.markSessionJoined({ id, repeatable: true })
    const launchedAtMs = Date.parse(data.created_at)
    const after = before.findLast(({ at }) => Date.parse(at) < launchedAtMs)?.seq ?? -1
    return new SealedAgentSession({ launch, room, watch, after, key: own.signing.thumbprint, replyKey })
  } catch (error) {
    watch.end('not joined')
    throw error
  }
}

interface KeptDevice {
  device: Promise<RoomDevice>
  untilMs: number
}

/** By session: a launch that is sent again must find the device that has answered the invitation. */
const devices = new Map<string, KeptDevice>()

function deviceOf({ session_id: id, expires_at: expiresAt }: SessionLaunchedSealed): Promise<RoomDevice> {
  for (const [kept, { untilMs }] of devices) if (untilMs < Date.now()) devices.delete(kept)
  const known = devices.get(id)?.device
  if (known) return known
  const device = generateDevicePairs().then(roomDeviceOf)
  devices.set(id, { device, untilMs: Date.parse(expiresAt) })
  return device
}

/** Answers the invitation, unless this device has done so before and was admitted. */
async function enter(invitation: string, options: Parameters<typeof answerInvitation>[1]): Promise<ListedRoom> {
  try {
    return await answerInvitation(invitation, options)
  } catch (error) {
    if (!(error instanceof NotListedError)) throw error
    const [name = '', owner = ''] = invitation.split('~')
    const room = openListedRoom({ ...options, room: name, owner })
    // Throws unless the device is on the list.
    await room.members()
    return room
  }
}

async function openInvitation({ sealed_key: sealed, room, agent_id: agentId }: SessionLaunchedSealed, { d, ...key }: AgentKey) {
  const privateKey = await crypto.subtle.importKey('jwk', { ...publicPartOf({ ...key, d }), d }, curve, false, ['deriveBits'])
  const content = parse(await openSealedToKey(privateKey, sealed))
  const { invitation } = content
  // Sealed by somebody for another place, and passed on here.
  if (content.room !== room || content.agent_id !== agentId || typeof invitation !== 'string') throw new SealedKeyError()
  if (!invitation.startsWith(`${room}~`)) throw new SealedKeyError()
  return invitation
}

function parse(text: string | undefined): { room?: unknown; agent_id?: unknown; invitation?: unknown } {
  try {
    return (JSON.parse(text ?? '{}') ?? {}) as object
  } catch {
    return {}
  }
}

/** Everything that was said so far. */
async function readOnceAdmitted(room: ListedRoom, watch: SessionWatch): Promise<ListedEntry[]> {
  for (;;) {
    watch.signal.throwIfAborted()
    try {
      return await room.read({ signal: watch.signal })
    } catch (error) {
      if (!(error instanceof NotListedError) || error.reason === 'revoked') throw error
    }
    await watch.pause(admittedIntervalMs)
  }
}

interface Parts {
  launch: SessionLaunchedSealed
  room: ListedRoom
  watch: SessionWatch
  /** Number of the last line before the launch; -1 without one. */
  after: number
  /** Thumbprint of the agent's device. */
  key: string
  replyKey: WebCryptoKey
}

/** Only the agent has it: nobody else can write a line that the service would take for one of its replies. */
async function deriveReplyKey({ d }: AgentKey, session: string): Promise<WebCryptoKey> {
  const utf8 = new TextEncoder()
  const ikm = await crypto.subtle.importKey('raw', decodeBase64url(d), 'HKDF', false, ['deriveKey'])
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: utf8.encode(session), info: utf8.encode('atrium/agent-reply/v1') }
  return crypto.subtle.deriveKey(hkdf, ikm, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
}

/** A remote agent's session in a room whose key never reaches a server. joinSealedSession makes it. */
export class SealedAgentSession {
  readonly launch: SessionLaunchedSealed
  /** The room, with everything that was said in it. */
  readonly room: ListedRoom
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.launch = parts.launch
    this.room = parts.room
    this.#parts = parts
  }

  get id(): string {
    return this.launch.session_id
  }

  /** Aborts when the session has ended: within seconds by its status, or at once by `end`. */
  get signal(): AbortSignal {
    return this.#parts.watch.signal
  }

  /**
   * The messages of others since the launch, also those of other agents. The iteration ends without an error when the
   * session ends. It throws NotListedError when the owner has removed the agent's device before.
   */
  get entries(): AsyncIterable<ListedEntry> {
    return this.#others()
  }

  /** Writes a message. After the session's end it throws SessionOverError and writes nothing. */
  async say(text: string, { replyTo }: { replyTo?: string } = {}): Promise<{ id: string; seq: number }> {
    this.signal.throwIfAborted()
    return this.room.say(text, { signal: this.signal, ...(replyTo !== undefined && { replyTo }) })
  }

  /**
   * Writes a reply to the entry, at most once per entry and session, even after a retry or a restart with the same key. After
   * the session's end it throws SessionOverError and writes nothing.
   */
  async reply({ id: replyTo, seq }: Pick<ListedEntry, 'id' | 'seq'>, text: string): Promise<{ id: string; seq: number }> {
    this.signal.throwIfAborted()
    const id = new Uint8Array(await crypto.subtle.sign('HMAC', this.#parts.replyKey, new TextEncoder().encode(String(seq))))
    return this.room.say(text, { signal: this.signal, replyTo, id: encodeBase64url(id) })
  }

  /** Reads the state of the session. */
  status(): Promise<SessionState> {
    return this.#parts.watch.status()
  }

  /** Ends the iteration and aborts the signal. Call it on a session.ended request. */
  end(status = 'ended'): void {
    this.#parts.watch.end(status)
  }

  /** Stops the session, which settles its bill. A session that has ended does not change. */
  stop(): Promise<void> {
    return this.#parts.watch.stop()
  }

  async *#others(): AsyncGenerator<ListedEntry, void, undefined> {
    const { after, key, watch } = this.#parts
    try {
      for await (const entry of this.room.follow({ after, signal: this.signal })) if (entry.author.key !== key) yield entry
    } catch (error) {
      // The owner removes the device when the session has ended, so either may be noticed first.
      await watch.look()
      if (!this.signal.aborted) throw error
    }
  }
}

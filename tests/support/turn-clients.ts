import { execFile } from 'node:child_process'
import type { TestContext } from 'node:test'
import { createTurnClient, RTCPeerConnection } from 'werift'

/** As RTCPeerConnection takes it. */
export interface IceServer {
  urls: string[]
  username: string
  credential: string
}

export type Credentials = Pick<IceServer, 'username' | 'credential'>

export interface UclientRun {
  accepted: boolean
  output: string
}

/** Runs coturn's own client, which opens two relays and sends from one to the other. */
export function runUclient(port: number, credentials: Credentials, flags: string[] = []): Promise<UclientRun> {
  return runUclientAs(
    ['-y', '-c', '-n', '1', '-p', String(port), ...flags, '-u', 'USERNAME', '-w', 'CREDENTIAL', '127.0.0.1'],
    credentials,
  )
}

/** Runs it with these arguments. USERNAME and CREDENTIAL stand for the credentials. */
export function runUclientAs(args: string[], { username, credential }: Credentials): Promise<UclientRun> {
  const filled = args.map((arg) => (arg === 'USERNAME' ? username : arg === 'CREDENTIAL' ? credential : arg))
  return new Promise((resolve, reject) => {
    execFile('turnutils_uclient', filled, { timeout: 40_000, killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
      if (error?.killed) return reject(new Error(`turnutils_uclient did not end:\n${stdout}${stderr}`))
      resolve({ accepted: !error, output: stdout + stderr })
    })
  })
}

/** Opens a relay until the test ends. A refusal is a TurnRefusal. */
export async function openRelay(
  t: TestContext,
  port: number,
  { username, credential }: Credentials,
  options: Parameters<typeof createTurnClient>[1] = { transport: 'udp' },
): Promise<OpenRelay> {
  const relay = await createTurnClient({ address: ['127.0.0.1', port], username, password: credential }, options).catch(refusal)
  t.after(() => relay.close())
  return { permit: (address) => relay.getPermission([address, 9]).catch(refusal) }
}

export interface OpenRelay {
  /** Requests permission to send to the address, and sends nothing. */
  permit(address: string): Promise<void>
}

/** The relay's answer, such as `403 Forbidden IP`. */
export class TurnRefusal extends Error {}

function refusal(error: Error & { response?: { getAttributeValue(name: string): unknown } }): never {
  const answered = error.response?.getAttributeValue('ERROR-CODE')
  throw Array.isArray(answered) ? new TurnRefusal(answered.join(' ')) : error
}

/**
 * Connects two peers that may use only the relay. Returns what the second received from the first, and every
 * candidate.
 */
export async function talkThroughRelay(iceServers: IceServer[], words: string): Promise<{ heard: string; candidates: string[] }> {
  const [caller, callee] = [relayed(iceServers), relayed(iceServers)]
  try {
    const channel = caller.createDataChannel('words')
    channel.stateChanged.subscribe((state) => state === 'open' && channel.send(words))
    const heard = new Promise<string>((resolve) =>
      callee.onDataChannel.subscribe((opened) => opened.onMessage.subscribe((message) => resolve(message.toString()))),
    )
    await caller.setLocalDescription(await caller.createOffer())
    await callee.setRemoteDescription(caller.localDescription!)
    await callee.setLocalDescription(await callee.createAnswer())
    await caller.setRemoteDescription(callee.localDescription!)
    return { heard: await inTime(heard), candidates: [...candidatesOf(caller), ...candidatesOf(callee)] }
  } finally {
    await Promise.all([caller.close(), callee.close()])
  }
}

/** The candidates of a peer that may use only the relay. */
export async function relayCandidates(iceServers: IceServer[]): Promise<string[]> {
  const peer = relayed(iceServers)
  try {
    peer.createDataChannel('none')
    await peer.setLocalDescription(await peer.createOffer())
    return candidatesOf(peer)
  } finally {
    await peer.close()
  }
}

function relayed(iceServers: IceServer[]): RTCPeerConnection {
  return new RTCPeerConnection({ iceServers, iceTransportPolicy: 'relay' })
}

function candidatesOf(peer: RTCPeerConnection): string[] {
  return peer.localDescription!.sdp.split('\r\n').filter((line) => line.startsWith('a=candidate:'))
}

async function inTime<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('nothing came through the relay in 15 s')), 15_000)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

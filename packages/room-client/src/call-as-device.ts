import { type ClientKeys, deriveClientKeys, signRequest } from '@atrium/sealing/client-sealed'
import { callSpace } from './call-space.ts'
import type { ListedRoomOptions } from './listed-types.ts'
import { newRoomSecret } from './new-room-secret.ts'
import { wait as delay } from './retry.ts'
import type { AnswerOf, RequestOf, SpaceOp } from './space-ops.ts'

interface How {
  /** Of the room. undefined: the list alone gives access to a device that is on it, so any access key will do. */
  readonly keys?: ClientKeys | undefined
  readonly signal: AbortSignal | undefined
  /** Default: that of the options. */
  readonly retries?: number | undefined
  /** Default: that of the options. */
  readonly timeoutMs?: number | undefined
}

/** Sends a request of the device of `options` to a room with a list. Throws SpaceCallError. */
export async function callAsDevice<Op extends SpaceOp>(
  options: ListedRoomOptions,
  request: RequestOf<Op> & { op: Op },
  { keys, signal, retries = options.retries ?? 3, timeoutMs = options.timeoutMs }: How,
): Promise<AnswerOf<Op>> {
  const { spaceUrl, audience = new URL(spaceUrl).origin, device, fetch, wait = delay } = options
  const { spk, sign } = device.signing
  const signing = keys ?? (await deriveClientKeys(newRoomSecret()))
  return callSpace<Op>({ url: spaceUrl, fetch }, request, {
    identity: { spk, sign },
    sign: (signed) => signRequest(signing, signed, { audience }),
    timeoutMs,
    retries,
    wait,
    signal,
  })
}

import { type DeviceKey, type DevicePublicKey, thumbprintOf } from './identity.ts'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** Makes a Web Crypto key pair whose private half is not extractable. */
export async function generateDevicePair() {
  return crypto.subtle.generateKey(algorithm, false, ['sign', 'verify'])
}

export async function deviceKeyOf({ publicKey, privateKey }: Awaited<ReturnType<typeof generateDevicePair>>): Promise<DeviceKey> {
  const { x, y } = await crypto.subtle.exportKey('jwk', publicKey)
  if (x === undefined || y === undefined) throw new TypeError('the device key is not an EC key')
  const spk: DevicePublicKey = { kty: 'EC', crv: 'P-256', x, y }
  return {
    spk,
    thumbprint: await thumbprintOf(spk),
    sign: async (bytes) => new Uint8Array(await crypto.subtle.sign(algorithm, privateKey, bytes)),
  }
}

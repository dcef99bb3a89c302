import { decodeBase64url, encodeBase64url } from '@atrium/sealing/base64url'
import type { RoomSecret } from '@atrium/sealing/room-secret'
import { keptFor } from '../service.ts'
import { keyName } from './key-name.ts'

const INFO = 'atrium/space-app/local/v1'

/**
 * The data that the app stores on this device for a room: drafts, unsent messages, how far the visitor has read. It
 * is sealed under a key derived from the room's key, so that nobody can read it without the link.
 */
export class Vault {
  /** The name of how far the visitor has read. */
  readonly seenName: string
  readonly #prefix: string
  readonly #key: CryptoKey
  readonly #writes = new Map<string, Promise<void>>()

  private constructor(prefix: string, seenName: string, key: CryptoKey) {
    this.#prefix = prefix
    this.seenName = seenName
    this.#key = key
  }

  /**
   * Each key of a room, and each owner and service with the same key, has data of its own. Otherwise what was written for
   * one room would be sent to another one of that name. `owner`: of a room with a list.
   */
  static async open({ room, mk }: RoomSecret, owner = ''): Promise<Vault> {
    const utf8 = new TextEncoder()
    const ikm = await crypto.subtle.importKey('raw', utf8.encode(mk), 'HKDF', false, ['deriveKey'])
    const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: utf8.encode(room), info: utf8.encode(INFO) }
    const key = await crypto.subtle.deriveKey(hkdf, ikm, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
    const [place, seen] = [await keyName({ room, mk }, keptFor(owner)), await keyName({ room, mk }, owner)]
    const vault = new Vault(`atrium.space.room/${room}/${place}/`, `seen/${seen}`, key)
    await vault.#adopt(`atrium.space/${room}/`)
    return vault
  }

  /**
   * Resolves to true when it is stored, and to false if the browser does not allow storage. Writes under one name
   * keep their order.
   */
  async write(name: string, value: unknown): Promise<boolean> {
    const before = this.#writes.get(name)
    const sealing = this.#seal(name, value)
    const writing = (async () => {
      await before?.catch(() => undefined)
      localStorage.setItem(this.#prefix + name, await sealing)
    })()
    this.#writes.set(name, writing)
    return writing.then(
      () => true,
      () => false,
    )
  }

  async remove(name: string): Promise<void> {
    await this.#writes.get(name)?.catch(() => undefined)
    try {
      localStorage.removeItem(this.#prefix + name)
    } catch {
      // Storage is off: nothing was written.
    }
  }

  /** Undefined if there is no entry or it cannot be opened. */
  async read<T>(name: string, prefix = this.#prefix): Promise<T | undefined> {
    try {
      const bytes = decodeBase64url(localStorage.getItem(prefix + name) ?? '')
      const opened = await crypto.subtle.decrypt(this.#gcm(name, bytes.subarray(0, 12)), this.#key, bytes.subarray(12))
      return JSON.parse(new TextDecoder().decode(opened)) as T
    } catch {
      return undefined
    }
  }

  names(start: string, prefix = this.#prefix): string[] {
    try {
      return Object.keys(localStorage).flatMap((key) => (key.startsWith(prefix + start) ? [key.slice(prefix.length)] : []))
    } catch {
      return []
    }
  }

  /**
   * Earlier releases stored under the name of the room alone: what this key opens is moved, unless only rooms of other owners
   * were read.
   */
  async #adopt(before: string): Promise<void> {
    const own: string[] = []
    for (const name of this.names('', before)) if ((await this.read(name, before)) !== undefined) own.push(name)
    const seen = own.filter((name) => name.startsWith('seen/'))
    if (seen.length > 0 && !seen.includes(this.seenName)) return
    // What says whose this is goes last: a visit that is cut short leaves it for the next one.
    for (const name of own.toSorted((a, b) => Number(a === this.seenName) - Number(b === this.seenName))) {
      try {
        // Another tab may have moved it meanwhile.
        const value = localStorage[before + name]
        if (value) localStorage[this.#prefix + name] ??= value
        localStorage.removeItem(before + name)
      } catch {
        // There is no space: the rest stays for the next visit.
        return
      }
    }
  }

  async #seal(name: string, value: unknown): Promise<string> {
    const iv = crypto.getRandomValues(new Uint8Array(12))
    const content = new TextEncoder().encode(JSON.stringify(value))
    const sealed = new Uint8Array(await crypto.subtle.encrypt(this.#gcm(name, iv), this.#key, content))
    const bytes = new Uint8Array(12 + sealed.length)
    bytes.set(iv)
    bytes.set(sealed, 12)
    return encodeBase64url(bytes)
  }

  /** The name is authenticated, so that one entry cannot replace another. */
  #gcm(name: string, iv: Uint8Array<ArrayBuffer>) {
    return { name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(name) }
  }
}

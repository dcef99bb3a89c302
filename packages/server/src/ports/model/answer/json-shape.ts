export interface ShapeLimits {
  /** The number of values and keys that JSON.parse would create. */
  nodes: number
  /** The depth of nested arrays and objects. */
  depth: number
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openArray = 0x5b
const backslash = 0x5c
const closeArray = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

/**
 * Counts the structure of JSON text in one pass and without memory, before it is parsed. Parsing 24 MiB of
 * `[[],[],…]` would take seconds and half a gigabyte, while a string of the same length takes next to nothing. It
 * does not check the grammar: JSON.parse does.
 */
export class JsonShape {
  readonly #limits: ShapeLimits
  #nodes = 0
  #depth = 0
  #inString = false
  #escaped = false

  constructor(limits: ShapeLimits) {
    this.#limits = limits
  }

  /** Reads the next piece. Returns false once the text exceeds the limits. */
  take(bytes: Uint8Array): boolean {
    for (const byte of bytes) {
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false
        else if (byte === backslash) this.#escaped = true
        else if (byte === quote) this.#inString = false
        continue
      }
      if (byte === quote) this.#inString = true
      else if (byte === comma || byte === colon) this.#nodes++
      else if (byte === openArray || byte === openObject) {
        this.#nodes++
        this.#depth++
      } else if (byte === closeArray || byte === closeObject) this.#depth--
      if (this.#nodes > this.#limits.nodes || this.#depth > this.#limits.depth) return false
    }
    return true
  }
}

/** Whether the whole text is within the limits. */
export function fitsShape(text: Uint8Array, limits: ShapeLimits): boolean {
  return new JsonShape(limits).take(text)
}

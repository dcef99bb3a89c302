import { encodeValue } from './encode-value.ts'

/**
 * The messages of a client in the protocol 3.0 of PostgreSQL ("Message Formats" in its documentation), one after the
 * other in one buffer, so that a query is one write.
 *
 * @example socket.write(new ClientMessages().parse('', 'select $1').bind('', [1]).execute().sync().bytes)
 */
export class ClientMessages {
  #buffer = Buffer.allocUnsafe(1_024)
  #end = 0
  /** Where the length of the message begins that is being written. */
  #lengthAt = 0

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#end)
  }

  startup(parameters: Readonly<Record<string, string>>): this {
    this.#begin('').#int32(196_608)
    for (const text of Object.entries({ ...parameters, client_encoding: 'UTF8' }).flat()) this.#text(text)
    return this.#text('').#finish()
  }

  requestTls(): this {
    return this.#begin('').#int32(80_877_103).#finish()
  }

  password(password: string): this {
    return this.#begin('p').#text(password).#finish()
  }

  /** The first message of a SASL exchange. */
  sasl(mechanism: string, data: string): this {
    return this.#begin('p').#text(mechanism).#sized(data).#finish()
  }

  saslResponse(data: string): this {
    return this.#begin('p').#bytes(data).#finish()
  }

  query(text: string): this {
    return this.#begin('Q').#text(text).#finish()
  }

  parse(statement: string, text: string): this {
    return this.#begin('P').#text(statement).#text(text).#int16(0).#finish()
  }

  /** Bytes are sent as they are, all other values as text. */
  bind(statement: string, values: readonly unknown[]): this {
    const encoded = values.map(encodeValue)
    this.#begin('B').#text('').#text(statement).#int16(encoded.length)
    for (const value of encoded) this.#int16(Buffer.isBuffer(value) ? 1 : 0)
    this.#int16(encoded.length)
    for (const value of encoded) {
      if (value === null) this.#int32(-1)
      else this.#sized(value)
    }
    // All columns of the answer are text.
    return this.#int16(1).#int16(0).#finish()
  }

  /** Asks for the columns of what was bound. */
  describe(): this {
    return this.#begin('D').#bytes('P').#text('').#finish()
  }

  execute(): this {
    return this.#begin('E').#text('').#int32(0).#finish()
  }

  close(statement: string): this {
    return this.#begin('C').#bytes('S').#text(statement).#finish()
  }

  sync(): this {
    return this.#begin('S').#finish()
  }

  copyData(data: Buffer): this {
    return this.#begin('d').#bytes(data).#finish()
  }

  copyDone(): this {
    return this.#begin('c').#finish()
  }

  copyFail(reason: string): this {
    return this.#begin('f').#text(reason).#finish()
  }

  terminate(): this {
    return this.#begin('X').#finish()
  }

  /** The first message of a connection has no type. */
  #begin(type: string): this {
    this.#bytes(type)
    this.#lengthAt = this.#end
    return this.#int32(0)
  }

  #finish(): this {
    this.#buffer.writeInt32BE(this.#end - this.#lengthAt, this.#lengthAt)
    return this
  }

  #int16(value: number): this {
    this.#reserve(2)
    this.#end = this.#buffer.writeUInt16BE(value, this.#end)
    return this
  }

  #int32(value: number): this {
    this.#reserve(4)
    this.#end = this.#buffer.writeInt32BE(value, this.#end)
    return this
  }

  #text(text: string): this {
    return this.#bytes(text).#bytes('\0')
  }

  #bytes(bytes: string | Buffer): this {
    this.#reserve(Buffer.byteLength(bytes))
    this.#end += typeof bytes === 'string' ? this.#buffer.write(bytes, this.#end) : bytes.copy(this.#buffer, this.#end)
    return this
  }

  #sized(bytes: string | Buffer): this {
    const at = this.#end
    this.#int32(0).#bytes(bytes)
    this.#buffer.writeInt32BE(this.#end - at - 4, at)
    return this
  }

  #reserve(size: number): void {
    if (this.#end + size <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#buffer.length, this.#end + size))
    this.#buffer.copy(larger, 0, 0, this.#end)
    this.#buffer = larger
  }
}

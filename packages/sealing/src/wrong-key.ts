/**
 * The line's content key does not unwrap under this room key: it belongs to another room, or `encrypted_key` was
 * altered.
 */
export class WrongKey extends Error {
  override readonly name = 'WrongKey'

  constructor() {
    super('the room key does not open this line')
  }
}

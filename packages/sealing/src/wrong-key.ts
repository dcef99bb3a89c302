/** The line's content key does not unwrap under this room key: another room's key, or `encrypted_key` was altered. */
export class WrongKey extends Error {
  override readonly name = 'WrongKey'

  constructor() {
    super('the room key does not open this line')
  }
}

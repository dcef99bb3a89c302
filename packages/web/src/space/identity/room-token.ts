import type { Account } from './account.ts'

const KEY = 'atrium.space.room-token.'

/** A sign-in for one room with a list, until its token is sealed there. No server gets it but the identity provider. */
export function keepRoomToken(room: string, account: Account): void {
  sessionStorage.setItem(KEY + room, JSON.stringify(account))
}

export function findRoomToken(room: string): Account | undefined {
  try {
    const text = sessionStorage.getItem(KEY + room)
    return text ? (JSON.parse(text) as Account) : undefined
  } catch {
    return undefined
  }
}

export function dropRoomToken(room: string): void {
  try {
    sessionStorage.removeItem(KEY + room)
  } catch {
    // Storage is off: nothing was kept.
  }
}

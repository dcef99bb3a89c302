import type { Place } from '#crypto/vault/sealed-columns.ts'
import type { Vault } from '#crypto/vault/vault.ts'
import type { Session } from './session.ts'

type Home = Pick<Session, 'tenantId' | 'id'>

export function sealRoomKey(vault: Vault, home: Home, mk: string): Buffer {
  return vault.seal(Buffer.from(mk), placeOf(home, 'mk_sealed'))
}

export function sealCoupon(vault: Vault, home: Home, coupon: string): Buffer {
  return vault.seal(Buffer.from(coupon), placeOf(home, 'coupon_sealed'))
}

/** The room's key, while the session may need it. */
export function openRoomKey(vault: Vault, session: Home & Pick<Session, 'mkSealed'>): string {
  if (!session.mkSealed) throw new Error(`session ${session.id} has ended: its room key is erased`)
  return vault.open(session.mkSealed, placeOf(session, 'mk_sealed')).toString()
}

export function openCoupon(vault: Vault, session: Home & Pick<Session, 'couponSealed'>): string {
  if (!session.couponSealed) throw new Error(`session ${session.id} has ended: its coupon is erased`)
  return vault.open(session.couponSealed, placeOf(session, 'coupon_sealed')).toString()
}

function placeOf({ tenantId, id }: Home, column: 'mk_sealed' | 'coupon_sealed'): Place {
  return { tenant: tenantId, table: 'sessions', column, row: id }
}

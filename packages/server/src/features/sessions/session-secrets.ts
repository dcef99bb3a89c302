import type { Place } from '#crypto/vault/sealed-columns.ts'
import type { Vault } from '#crypto/vault/vault.ts'
import type { Session } from './session.ts'

type SessionRef = Pick<Session, 'tenantId' | 'id'>

export function sealRoomKey(vault: Vault, session: SessionRef, mk: string): Buffer {
  return vault.seal(Buffer.from(mk), sealedRef(session, 'mk_sealed'))
}

export function sealCoupon(vault: Vault, session: SessionRef, coupon: string): Buffer {
  return vault.seal(Buffer.from(coupon), sealedRef(session, 'coupon_sealed'))
}

/** The room's key; a session that has ended has none. */
export function openRoomKey(vault: Vault, session: SessionRef & Pick<Session, 'mkSealed'>): string {
  if (!session.mkSealed) throw new Error(`session ${session.id} has ended: its room key is erased`)
  return vault.open(session.mkSealed, sealedRef(session, 'mk_sealed')).toString()
}

export function openCoupon(vault: Vault, session: SessionRef & Pick<Session, 'couponSealed'>): string {
  if (!session.couponSealed) throw new Error(`session ${session.id} has ended: its coupon is erased`)
  return vault.open(session.couponSealed, sealedRef(session, 'coupon_sealed')).toString()
}

function sealedRef({ tenantId, id }: SessionRef, column: 'mk_sealed' | 'coupon_sealed'): Place {
  return { tenant: tenantId, table: 'sessions', column, row: id }
}

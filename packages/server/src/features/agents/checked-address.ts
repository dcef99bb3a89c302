import { invalid } from '#errors/api-error.ts'
import type { Egress } from '#ports/egress/egress.ts'

/** The address in its normal form. Throws 400 where it is not one that this installation would call. */
export function checkedAddress(egress: Egress, text: string, path: string): string {
  const checked = egress.checkUrl(text)
  if (!checked.ok) throw invalid(path, checked.message)
  return checked.url.href
}

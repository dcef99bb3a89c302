import type { Wish } from './create-room.ts'

const KEY = 'atrium.space.wish'
const NOTHING: Wish = { policy: 'sealed', title: '', name: '', addresses: '' }

/** The tab keeps the form in session storage while the visitor signs in. */
export function keepWish(wish: Wish): void {
  sessionStorage.setItem(KEY, JSON.stringify(wish))
}

/** The form opens with a list chosen. */
export function wishForList(): void {
  keepWish({ ...NOTHING, policy: 'email' })
}

export function takeWish(): Wish {
  try {
    const text = sessionStorage.getItem(KEY)
    sessionStorage.removeItem(KEY)
    return text ? { ...NOTHING, ...(JSON.parse(text) as Wish) } : NOTHING
  } catch {
    return NOTHING
  }
}

import type { RoomForm } from './create-room.ts'

const KEY = 'atrium.space.wish'
const NOTHING: RoomForm = { policy: 'sealed', title: '', name: '', addresses: '' }

/** The tab keeps the form in session storage while the visitor signs in. */
export function keepFormDraft(form: RoomForm): void {
  sessionStorage.setItem(KEY, JSON.stringify(form))
}

/** The form opens with a list chosen. */
export function draftList(): void {
  keepFormDraft({ ...NOTHING, policy: 'email' })
}

export function takeFormDraft(): RoomForm {
  try {
    const text = sessionStorage.getItem(KEY)
    sessionStorage.removeItem(KEY)
    return text ? { ...NOTHING, ...(JSON.parse(text) as RoomForm) } : NOTHING
  } catch {
    return NOTHING
  }
}

import type { RoomSession } from '../room/room-session.ts'

/** The element of a message; ids are the service's, so they are looked up and never put into a selector. */
export function messageElement(id: string): HTMLElement | null {
  return document.getElementById(`m-${id}`)
}

/** Goes to a message that was replied to, fetching what lies before when it is not there yet. */
export async function showMessage(session: RoomSession, id: string): Promise<void> {
  while (!messageElement(id) && session.state.value.hasEarlier) {
    const before = session.state.value.chunks.length
    await session.reader.loadEarlier()
    if (session.state.value.chunks.length === before) return
    await new Promise((resolve) => requestAnimationFrame(resolve))
  }
  const element = messageElement(id)
  if (!element) return
  element.scrollIntoView({ block: 'center' })
  element.focus({ preventScroll: true })
  element.classList.remove('shown')
  // Read, so that the animation begins anew.
  void element.offsetWidth
  element.classList.add('shown')
}

import type { RoomSession } from '../room/room-session.ts'

/** Finds the element of a message. The service chooses the ids, so they are looked up and never part of a selector. */
function messageElement(id: string): HTMLElement | null {
  return document.getElementById(`m-${id}`)
}

/** Scrolls to the message that was replied to, and fetches older messages if it is not loaded. */
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
  // Reading the layout restarts the animation.
  void element.offsetWidth
  element.classList.add('shown')
}

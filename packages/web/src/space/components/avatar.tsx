import type { Author } from '@atrium/room-client/space-ops'
import { initials, tintOf } from './authors.ts'

/** A small arch in the author's tint. It is decorative, because the name is beside it. */
export function Avatar({ author }: { author: Author }) {
  return (
    <span class={`avatar tint${tintOf(author)} ${author.kind}`} aria-hidden="true">
      {initials(author)}
    </span>
  )
}

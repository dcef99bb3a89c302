import type { Glow } from '../drawing/picture.ts'

/** A drawn thing and the light it gives. */
export type Drawn = { body: string; glows: readonly Glow[] }

export function together(...things: readonly Drawn[]): Drawn {
  return { body: things.map(({ body }) => body).join(''), glows: things.flatMap(({ glows }) => glows) }
}

export function unlit(body: string): Drawn {
  return { body, glows: [] }
}

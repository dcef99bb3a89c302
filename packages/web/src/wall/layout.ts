/**
 * The layout of a wall. cards: side by side, as many as fit. book: one below the other, for reading. stage: one at a
 * time, large, for a projector.
 */
export const wallLayouts = ['cards', 'book', 'stage'] as const
export type WallLayout = (typeof wallLayouts)[number]

/** The layout of that name; `cards` for any other value. */
export function readLayout(value: unknown): WallLayout {
  return wallLayouts.find((layout) => layout === value) ?? 'cards'
}

import type { Warning } from '@atrium/contract/operation'
import { themeFaults } from '@atrium/web/share/theme'
import { wallLayouts } from '@atrium/web/wall/layout'
import { closest } from '#errors/closest.ts'

/** The keys of a collection's metadata that the platform's pages read. Every other key belongs to the app. */
const known = ['share_title', 'share_description', 'theme', 'wall_layout']

/** Names that other platforms give these keys. */
const synonyms: Record<string, string> = {
  title: 'share_title',
  pagetitle: 'share_title',
  description: 'share_description',
  pagedescription: 'share_description',
  sharetheme: 'theme',
  colourscheme: 'theme',
  colorscheme: 'theme',
  layout: 'wall_layout',
}

const maxWarnings = 20

/**
 * Metadata takes any key, so a mistyped one is not an error; the pages would only ignore it. Returns a warning
 * for each key of `sent` that looks like one that the pages read, while `merged` does not have that one, and for a
 * theme or layout that the pages ignore.
 */
export function metadataWarnings(sent: Record<string, unknown>, merged: Record<string, unknown> = sent): Warning[] {
  const keys = Object.keys(sent).filter((key) => sent[key] !== null)
  const typos = keys.flatMap((key) => {
    if (known.includes(key)) return []
    const meant = synonyms[key.toLowerCase().replaceAll(/[^a-z]/g, '')] ?? closest(key, known)
    return meant === undefined || Object.hasOwn(merged, meant)
      ? []
      : [
          {
            path: `/metadata/${escapePointer(key)}`,
            message: `the share page and the wall do not read this key; did you mean ${meant}?`,
          },
        ]
  })
  const theme = Object.hasOwn(sent, 'theme') && sent['theme'] !== null ? themeWarnings(sent['theme']) : []
  return [...typos, ...theme, ...layoutWarnings(sent['wall_layout'])].slice(0, maxWarnings)
}

function themeWarnings(theme: unknown): Warning[] {
  return themeFaults(theme).map(({ key, message }) => ({
    path: key === undefined ? '/metadata/theme' : `/metadata/theme/${escapePointer(key)}`,
    message,
  }))
}

function layoutWarnings(layout: unknown): Warning[] {
  if (layout === undefined || layout === null || wallLayouts.some((one) => one === layout)) return []
  return [
    { path: '/metadata/wall_layout', message: `there is no such layout, so the wall shows cards; use ${wallLayouts.join(', ')}` },
  ]
}

/** RFC 6901, section 3. A key is as long as its sender likes, and a warning is short. */
function escapePointer(key: string): string {
  return key.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1')
}

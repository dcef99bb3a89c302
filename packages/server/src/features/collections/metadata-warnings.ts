import type { Warning } from '@atrium/contract/operation'
import { themeFaults } from '@atrium/web/share/theme'
import { closest } from '#errors/closest.ts'

/** The keys of a collection's metadata that the platform's pages read. Every other key belongs to the app. */
const known = ['share_title', 'share_description', 'theme']

/** Names that other platforms give these keys. */
const synonyms: Record<string, string> = {
  title: 'share_title',
  pagetitle: 'share_title',
  description: 'share_description',
  pagedescription: 'share_description',
  sharetheme: 'theme',
  colourscheme: 'theme',
  colorscheme: 'theme',
}

const maxWarnings = 20

/**
 * Metadata takes any key, so a mistyped one is not an error; the share page would only ignore it. Returns a warning
 * for each key of `sent` that looks like one that the pages read, while `merged` does not have that one, and for a
 * theme that the pages ignore.
 */
export function metadataWarnings(sent: Record<string, unknown>, merged: Record<string, unknown> = sent): Warning[] {
  const keys = Object.keys(sent).filter((key) => sent[key] !== null)
  const typos = keys.flatMap((key) => {
    if (known.includes(key)) return []
    const meant = synonyms[key.toLowerCase().replaceAll(/[^a-z]/g, '')] ?? closest(key, known)
    return meant === undefined || Object.hasOwn(merged, meant)
      ? []
      : [{ path: `/metadata/${escapePointer(key)}`, message: `the share page does not read this key; did you mean ${meant}?` }]
  })
  const theme = Object.hasOwn(sent, 'theme') && sent['theme'] !== null ? themeWarnings(sent['theme']) : []
  return [...typos, ...theme].slice(0, maxWarnings)
}

function themeWarnings(theme: unknown): Warning[] {
  return themeFaults(theme).map(({ key, message }) => ({
    path: key === undefined ? '/metadata/theme' : `/metadata/theme/${escapePointer(key)}`,
    message,
  }))
}

/** RFC 6901, section 3. A key is as long as its sender likes, and a warning is short. */
function escapePointer(key: string): string {
  return key.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1')
}

import { required } from '@atrium/contract/required'
import { readFile } from 'node:fs/promises'

/** The content of examples/event-wall/wall.json, which its README describes. */
export interface Wall {
  collection: { name: string; metadata: { share_title: string; [field: string]: unknown } }
  items: WallItem[]
  /** Indexes of items. */
  curation: { hero: number; archive: number[]; unapprove: number[] }
  artifacts: WallArtifact[]
}

export interface WallItem {
  type: string
  content: { text: string; lang: string }
  author: string
}

export interface WallArtifact {
  kind: 'image'
  file: string
  title: string
  alt: string
  publish: boolean
  hero?: boolean
}

/** The collection as it was made. */
export interface Collection {
  id: string
  ownerToken: string
  contributorToken: string
}

export async function readWall(): Promise<Wall> {
  return JSON.parse(await readFile(new URL('../../examples/event-wall/wall.json', import.meta.url), 'utf8')) as Wall
}

/** wall.json names its items by position. Throws if there is no such item. */
export function itemAt<T>(items: readonly T[], index: number): T {
  return required(items[index], `wall.json has an item ${index}`)
}

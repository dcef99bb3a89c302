import type { Handlers } from '../handler.ts'
import { getOembed } from './operations/get-oembed.ts'
import { renderCollection } from './operations/render-collection.ts'

export const shareHandlers = { renderCollection, getOembed } satisfies Partial<Handlers>

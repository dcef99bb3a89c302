import type { Static } from 'typebox'
import { Type } from './type.ts'
import { collectionParams } from './collections.ts'
import { Item, itemExample, itemFilters } from './item-schemas.ts'
import { operation } from './operation.ts'
import { everyMember } from './roles.ts'
import { closed, id, Timestamp } from './schemas.ts'
import type { StreamBody } from './streams.ts'

/** The first line: it describes the export. */
export const ExportHead = Type.Object({
  format: Type.Literal('atrium.items'),
  version: Type.Literal(1),
  collection_id: id('collection'),
  exported_at: Timestamp,
  filters: Type.Object(itemFilters, { description: 'The filters of the query.' }),
})

/** The last line of an export that is complete. */
export const ExportEnd = Type.Object({
  end: Type.Literal(true),
  items: Type.Integer({ minimum: 0, description: 'The number of items in the export.' }),
})

export type ExportedItem = Static<typeof Item>
/** The lines of an export: the head, then items, then the end. */
export type ItemExportLine = Static<typeof ExportHead> | ExportedItem | Static<typeof ExportEnd>

const headExample: Static<typeof ExportHead> = {
  format: 'atrium.items',
  version: 1,
  collection_id: 'col_4fRzK0vXcB1mQwErTy7uPa',
  exported_at: '2026-11-20T10:00:00.000Z',
  filters: {},
}

const example = [headExample, itemExample, { end: true, items: 1 }].map((line) => `${JSON.stringify(line)}\n`).join('')

export const itemExportOperations = {
  exportItems: operation({
    id: 'exportItems',
    kind: 'stream',
    method: 'GET',
    path: '/collections/{id}/export',
    status: 'live',
    tag: 'Items',
    summary: 'Export all items',
    description:
      'The items as `application/x-ndjson`, one JSON value a line, oldest first.\n\n' +
      'The first line is `{format, version, collection_id, exported_at, ' +
      'filters}`, then each line is an item as the list shows it, and the last line is `{end: true, items}` with their number. An export without that ' +
      'line was cut: start again. Where the filters leave out very many items in a row, single spaces precede the next line, so that ' +
      'the connection is not silent: JSON permits them before a value.\n\n' +
      'The export has the items that were added before it began, as they are when they are read; one that is deleted ' +
      'meanwhile may be missing.\n\n' +
      'It ends early within 15 seconds once the key is revoked, the tenant suspended, the owner token replaced or the ' +
      'collection deleted, and where the client reads nothing for two minutes. Exports that run at the same time are limited ' +
      '(429): while all places are taken, one that is read slower than 256 KiB a second may be cut for another tenant.',
    caller: 'publishable',
    roles: everyMember,
    capability: 'owner',
    params: collectionParams,
    query: closed(itemFilters),
    answers: {
      200: {
        description: 'The lines.',
        data: Type.Unsafe<StreamBody<ItemExportLine>>({
          type: 'string',
          description: 'JSON values, each followed by a line feed.',
        }),
        raw: 'application/x-ndjson',
      },
    },
    example: { data: example },
  }),
}

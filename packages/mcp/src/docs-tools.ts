import { namesOf } from '@atrium/contract/names-of'
import { errors, type ErrorCode } from '@atrium/contract/errors'
import { oneOf } from '@atrium/contract/schemas'
import { Type } from '@atrium/contract/type'
import { searchDocs } from './search-docs.ts'
import type { Tool } from './tool.ts'

const text = { type: 'string' } as const
const codes = namesOf(errors)

/** The documentation of the installation, which its operator publishes: trusted text. */
export const docsTools: Tool[] = [
  {
    name: 'search_docs',
    title: 'Search the documentation',
    description: 'Searches guides, operations and errors of this installation, and returns excerpts with their addresses.',
    hints: { writes: false, open: false },
    needs: {},
    input: Type.Object(
      {
        query: Type.String({ minLength: 1, maxLength: 200, description: 'A few words.' }),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10, default: 5 })),
      },
      { additionalProperties: false },
    ),
    output: {
      type: 'object',
      properties: {
        data: {
          type: 'array',
          items: {
            type: 'object',
            properties: { title: text, url: text, excerpt: text },
            required: ['title', 'url', 'excerpt'],
            additionalProperties: false,
          },
        },
      },
      required: ['data'],
      additionalProperties: false,
    },
    run: async ({ query, limit }, { docs, publicUrl }) => ({
      data: searchDocs(await docs(), String(query), typeof limit === 'number' ? limit : 5).map(({ path, ...found }) => ({
        ...found,
        url: publicUrl + path,
      })),
    }),
  },
  {
    name: 'explain_error',
    title: 'Explain an error code',
    description: 'Status, cause and remedy of an error code of the API.',
    hints: { writes: false, open: false },
    needs: {},
    input: Type.Object({ code: oneOf(codes) }, { additionalProperties: false }),
    output: {
      type: 'object',
      properties: {
        data: {
          type: 'object',
          properties: { code: text, status: { type: 'integer' }, title: text, cause: text, remedy: text, url: text },
          required: ['code', 'status', 'title', 'cause', 'remedy', 'url'],
          additionalProperties: false,
        },
      },
      required: ['data'],
      additionalProperties: false,
    },
    run: async ({ code }, { publicUrl }) => ({
      data: { code, ...errors[code as ErrorCode], url: `${publicUrl}/docs/errors/${String(code)}` },
    }),
  },
]

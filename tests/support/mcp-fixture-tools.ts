import type { Tool } from '../../packages/mcp/src/tool.ts'
import { ToolError } from '../../packages/mcp/src/tool.ts'
import Type from 'typebox'

const fixture = {
  hints: { writes: false, open: false },
  needs: {},
  input: Type.Object({}, { additionalProperties: false }),
  output: { type: 'object' },
} satisfies Partial<Tool>

/** The tools that the protocol's conformance suite calls, under the names that it expects. */
export const fixtureTools: readonly Tool[] = [
  {
    ...fixture,
    name: 'test_simple_text',
    title: 'Text',
    description: 'Answers with a text.',
    run: async () => ({ data: 'This is a simple text response for testing.' }),
  },
  {
    ...fixture,
    name: 'test_error_handling',
    title: 'Error',
    description: 'Always fails.',
    run: async () => {
      throw new ToolError('This tool intentionally returns an error for testing')
    },
  },
  {
    ...fixture,
    name: 'json_schema_2020_12_tool',
    title: 'Schema',
    description: 'Its arguments are described with keywords of JSON Schema 2020-12.',
    input: Type.Object(
      { name: Type.Optional(Type.String()), address: Type.Optional(Type.Unsafe<object>({ $ref: '#/$defs/address' })) },
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
        additionalProperties: false,
      },
    ),
    run: async () => ({ data: null }),
  },
]

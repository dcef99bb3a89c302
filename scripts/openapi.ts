/**
 * Writes openapi/production and openapi/full, as JSON and YAML, from the table of operations. --check: writes
 * nothing, and fails with the name of each file that is out of date.
 */
import { stringify } from 'yaml'
import { openApiDocument } from '../packages/contract/src/openapi.ts'
import { writeOrCheck } from './write-or-check.ts'

const baseUrl = 'http://localhost:8787/v1'
const files = new Map<string, string>()

for (const name of ['production', 'full'] as const) {
  const document = openApiDocument({ full: name === 'full', baseUrl })
  files.set(`openapi/${name}.json`, `${JSON.stringify(document, null, 2)}\n`)
  files.set(`openapi/${name}.yaml`, stringify(document, { aliasDuplicateObjects: false, lineWidth: 120 }))
}

await writeOrCheck({ files, command: 'node scripts/openapi.ts' })

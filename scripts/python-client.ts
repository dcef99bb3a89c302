/**
 * Writes the parts of the Python client that come from the contract: a method for each operation, the types of
 * requests and answers, and a class for each error code. --check: writes nothing, and fails with the name of each
 * file that is out of date.
 */
import { readFileSync } from 'node:fs'
import { servedOperations } from '../packages/contract/src/table.ts'
import { printErrors } from './python/errors.ts'
import { printOperations, printTag } from './python/operations.ts'
import { snakeCase } from './python/text.ts'
import { collectTypes } from './python/types.ts'
import { writeOrCheck } from './write-or-check.ts'

const folder = 'packages/python/src/atrium'
const origin = 'Written by scripts/python-client.ts out of packages/contract.'
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

const types = collectTypes()
const tags = [...new Set(servedOperations.map(({ tag }) => tag))]
const operations = tags.map((tag): [string, string] => [
  `${folder}/operations/${snakeCase(tag)}.py`,
  printTag(
    tag,
    servedOperations.filter((op) => op.tag === tag),
    types,
    origin,
  ),
])
const ownFolder = `${folder}/operations`
const generated = new Map([...operations, [`${ownFolder}/__init__.py`, printOperations(tags, origin)]])

await writeOrCheck({ files: generated, command: 'node scripts/python-client.ts' })
const others = new Map([
  [`${folder}/types.py`, types.print(origin)],
  [`${folder}/errors.py`, printErrors(origin)],
  [`${folder}/_version.py`, `"""The version of all packages."""\n\n# ${origin}\n\nVERSION = "${version}"\n`],
])
await writeOrCheck({ files: others, command: 'node scripts/python-client.ts' })

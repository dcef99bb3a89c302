import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'

const root = path.resolve(import.meta.dirname, '../../../..')
const read = (file: string) => readFile(path.join(root, file), 'utf8')

/** The text of each function of the schema, by its name. */
function functionsOf(schema: string): Map<string, string> {
  const [, ...parts] = schema.split(/^CREATE OR REPLACE FUNCTION public\./m)
  return new Map(parts.map((text) => [/^\w+/.exec(text)?.[0] ?? '', text.split('$function$\n;')[0] ?? '']))
}

async function sourceOf(folder: string): Promise<string> {
  const files = (await readdir(path.join(root, folder), { recursive: true })).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  )
  return (await Promise.all(files.map((file) => read(path.join(folder, file))))).join('\n')
}

test('the SQL functions that nothing calls are those that the next release removes', async () => {
  const schema = await read('migrations/schema.sql')
  const functions = functionsOf(schema)
  const code = `${await sourceOf('packages/server/src')}\n${await sourceOf('packages/space/src')}`
  const isCalledIn = (text: string, name: string) => new RegExp(`\\b${name}\\(`).test(text)
  const names = [...functions.keys()]
  const inUse = new Set(
    names.filter((name) => isCalledIn(code, name) || code.includes(`'${name}'`) || schema.includes(`EXECUTE FUNCTION ${name}(`)),
  )
  // A Set also visits what is added meanwhile.
  for (const name of inUse) {
    const body = functions.get(name) ?? ''
    for (const other of names) if (isCalledIn(body, other)) inUse.add(other)
  }
  const [, section = ''] = (await read('docs/operating/upgrade.md')).split('## SQL functions that the next release removes')
  const listed = section.split('\n').flatMap((line) => /^\| `.*?` \|/.exec(line)?.[0].match(/\w+(?=`)/g) ?? [])
  assert.ok(names.length > 40 && listed.length > 0)
  assert.deepEqual(listed.toSorted(), names.filter((name) => !inUse.has(name)).toSorted())
})

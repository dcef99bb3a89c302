// Writes migrations/functions.json: the version of each SQL function, which counts the changes of its file. With --check
// it only compares, and exits 1 when the file is out of date.
import { readFileSync, existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { migrationsFolder } from '../packages/server/src/db/migration-files.ts'
import { functionFolders, readFunctions, readVersions, versionsFile } from '../packages/server/src/db/sql-functions.ts'

const file = path.join(migrationsFolder, versionsFile)
const before = await readVersions(migrationsFolder)
const functions = await readFunctions(functionFolders, migrationsFolder)
// The version of a removed function stays: if its name returns, its version must be higher than that in the
// databases.
const after = { ...before }
for (const { name, sha256 } of functions) {
  const known = before[name]
  if (known?.sha256 !== sha256) after[name] = { version: (known?.version ?? 0) + 1, sha256 }
}
const lines = Object.entries(after)
  .toSorted(([one], [other]) => (one < other ? -1 : 1))
  .map(([name, { version, sha256 }]) => `  "${name}": { "version": ${version}, "sha256": "${sha256}" }`)
const text = `{\n${lines.join(',\n')}\n}\n`

if (!process.argv.includes('--check')) writeFileSync(file, text)
else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  console.error(
    'migrations/functions.json does not have the versions of the SQL functions: run `npm run generate` and commit the file',
  )
  process.exitCode = 1
}

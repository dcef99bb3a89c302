// Writes migrations/functions.json: the version of each SQL function, which counts the changes of its file. With --check
// it only compares, and exits 1 when the file is out of date, or when a version is lower than in an earlier commit: a
// database that has the higher version would keep the function of that version.
import { execFileSync } from 'node:child_process'
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

const highest = highestVersions()
for (const [name, { version }] of Object.entries(after)) {
  const earlier = highest.get(name) ?? 0
  if (version >= earlier) continue
  console.error(`migrations/functions.json: ${name} had version ${earlier} before. Set its version to ${earlier + 1}.`)
  process.exitCode = 1
}

/** The highest version of each function in the history; empty where there is none, as in a release archive. */
function highestVersions(): Map<string, number> {
  const versions = new Map<string, number>()
  let history = ''
  try {
    history = execFileSync('git', ['log', '--patch', '--format=', '--', versionsFile], {
      cwd: migrationsFolder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 2 ** 28,
    })
  } catch {
    // Not a checkout of git, or git is not installed.
  }
  for (const [, name = '', version] of history.matchAll(/^\+\s*"([^"]+)": \{ "version": (\d+)/gm))
    versions.set(name, Math.max(Number(version), versions.get(name) ?? 0))
  return versions
}

import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { bundleService, ENTRY } from './bundle.ts'
import { checkout, temporaryFolder } from './testing/copy-tree.ts'

const embedded = { gitCommit: 'unknown', app: [] }

async function bundleOf(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await temporaryFolder(after)
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  return Buffer.from((await bundleService(root, embedded)).code).toString()
}

test('a package that is not on the list stops the build, and the message names the file and the list', async () => {
  const files = { [ENTRY]: "import 'stranger'", 'node_modules/stranger/index.js': 'console.log(1)' }
  await assert.rejects(bundleOf(files), /may not hold node_modules\/stranger\/index\.js: allowedFolders in .*bundle\.ts/)
})

test('a package inside of a folder on the list stops the build too', async () => {
  const inner = 'packages/space/src/node_modules/stranger/index.js'
  const files = { [ENTRY]: "import 'stranger'", [inner]: 'console.log(1)' }
  await assert.rejects(bundleOf(files), /may not hold packages\/space\/src\/node_modules\/stranger\/index\.js/)
})

test('our own packages that are not on the list stop the build: the platform is not part of the service', async () => {
  const files = { [ENTRY]: "import '../../server/src/start.ts'", 'packages/server/src/start.ts': 'console.log(1)' }
  await assert.rejects(bundleOf(files), /may not hold packages\/server\/src\/start\.ts/)
})

const { code } = await bundleService(checkout, embedded)
const bundle = Buffer.from(code).toString()

test('the bundle makes no code at run time: every line that runs can be read in it', () => {
  assert.doesNotMatch(bundle, /\bFunction\(|\beval\(|from "(?:node:)?vm"|__require\("(?:node:)?vm"\)/)
})

test('the bundle is plain ASCII, which takes half the memory of other text', () => {
  assert.deepEqual(bundle.match(/.*[^\n\x20-\x7e].*/g), null)
})

test('the bundle is short enough to be read: under 6,000 lines', () => {
  assert.ok(bundle.split('\n').length < 6_000, `${bundle.split('\n').length} lines`)
})

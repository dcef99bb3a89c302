import assert from 'node:assert/strict'
import { appendFile, chmod, mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { skipWithout } from '../../../tests/support/skip-without.ts'
import { checkout, copyTree, run, temporaryFolder, treeAt } from './testing/copy-tree.ts'

const here = await copyTree(await temporaryFolder(after))
const elsewhere = await copyTree(join(await temporaryFolder(after, 'atrium test of another folder-'), 'deep', 'er'))
// All that a page can show of the environment that it was built in.
for (const { root } of [here, elsewhere])
  await appendFile(join(root, 'packages/web/src/space/main.tsx'), '\nconsole.log(import.meta.env)\n')
// Not to be in the archive, nor to change anything: nobody imports them.
await writeFile(join(elsewhere.root, 'packages/contract/src/nobody-imports-this.ts'), 'export const decoy = 1\n')
await writeFile(join(elsewhere.root, 'packages/web/src/space/.env'), 'VITE_DECOY=1\n')
await writeFile(join(elsewhere.root, '.env.production'), 'NODE_ENV=development\n')
await age(elsewhere.root)

const built = await here.build({ umask: '022', env: { TZ: 'Pacific/Kiritimati', LC_ALL: 'C' } })

test('another folder, time zone, language, umask, file times and variables: the same bytes', async () => {
  const env = {
    TZ: 'America/St_Johns',
    LC_ALL: 'tr_TR.UTF-8',
    LANG: 'tr_TR.UTF-8',
    USER: 'someone-else',
    NODE_ENV: 'development',
    VITE_DECOY: '1',
    BROWSERSLIST: 'ie 11',
    SOURCE_DATE_EPOCH: '86400',
  }
  const again = await elsewhere.build({ umask: '077', env })
  assert.deepEqual(again.json, built.json)
  assert.ok(again.bundle.equals(built.bundle))
  assert.ok(again.archive.equals(built.archive))
})

test('the bundle names no folder of this machine and no time', () => {
  const text = built.bundle.toString()
  for (const place of [here.root, elsewhere.root, checkout, '/home/', process.execPath]) assert.ok(!text.includes(place), place)
  const today = new Date().toISOString().slice(0, 10)
  assert.ok(!text.includes(today))
})

test('the source archive holds what is needed, and every file of it is', { skip: skipWithout('tar') }, async () => {
  const folder = await extract(built.archive)
  const files = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
  const expected = [
    /^(?:COMMIT|LICENSE|tsconfig\.json|package\.json|package-lock\.json)$/,
    /^packages\/(?:contract|identity|log|room-client|sealing|space|traffic|web)\/package\.json$/,
    /^packages\/web\/(?:tsconfig\.json|vite\.space\.config\.ts|build\/(?:add-integrity|import-each-script|one-first-file)\.ts)$/,
    /^packages\/web\/src\/space\/.+\.(?:tsx?|css|html|svg)$/,
    /^packages\/(?:contract|identity|log|room-client|sealing|space|traffic)\/src\/.+\.ts$/,
    /^packages\/space\/build\/[a-z-]+\.ts$/,
  ]
  for (const file of files) {
    assert.ok(
      expected.some((shape) => shape.test(file)),
      file,
    )
    assert.doesNotMatch(file, /\.test\.|testing\/|nobody-imports|ensure-built/)
  }
  for (const file of [
    'packages/space/src/entry.ts',
    'packages/space/src/certificate/space-build.ts',
    'packages/web/src/space/index.html',
  ]) {
    assert.ok(files.includes(file), `${file} is missing`)
  }
})

test('npm ci and npm run build in the extracted archive make the same bundle, and the same archive', async (t) => {
  const skip = skipWithout('tar')
  if (skip) return t.skip(skip)
  if (!(await isRegistryThere())) return t.skip('no package registry can be reached')
  const folder = await extract(built.archive)
  const install = () => run('npm', ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: folder })
  try {
    await install()
  } catch {
    if (!(await isRegistryThere())) return t.skip('the package registry can no longer be reached')
    await install()
  }
  await run('npm', ['run', 'build'], { cwd: folder })
  const again = await treeAt(folder).build({ env: { NODE_ENV: 'production' } })
  assert.ok(again.bundle.equals(built.bundle))
  assert.ok(again.archive.equals(built.archive))
  const changed = join(folder, 'packages/space/src/entry.ts')
  await writeFile(changed, "\nconsole.log('another')\n", { flag: 'a' })
  assert.ok(!(await treeAt(folder).build()).bundle.equals(built.bundle), 'another source makes another bundle')
})

async function extract(archive: Buffer): Promise<string> {
  const folder = await temporaryFolder(after)
  const packed = join(await temporaryFolder(after), 'source.tar.gz')
  await writeFile(packed, archive)
  await run('tar', ['-xzf', packed, '-C', folder])
  return folder
}

async function isRegistryThere(): Promise<boolean> {
  return run('npm', ['ping', '--fetch-retries=0', '--fetch-timeout=10000']).then(
    () => true,
    () => false,
  )
}

/** Other times and other permissions than where it was copied from. */
async function age(root: string): Promise<void> {
  await mkdir(join(root, 'packages/web/dist'), { recursive: true })
  for (const entry of await readdir(join(root, 'packages'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    await utimes(path, 86_400, 86_400)
    await chmod(path, 0o600)
  }
}

import assert from 'node:assert/strict'
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { StartError } from '#errors/start-error.ts'
import { findBinaries } from './binaries.ts'
import { findServerUser } from './server-user.ts'

const user = findServerUser()
const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'atrium binaries ')))
chmodSync(root, 0o711)
after(() => rmSync(root, { recursive: true, force: true }))

const packaged = path.resolve(findBinaries({ user, copiesFolder: root, say: assert.fail }).postgres, '../..')

/** The package as npm unpacks it with install scripts off: without links. */
function unpackWithoutLinks(name: string): string {
  const folder = path.join(root, name, 'package')
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  cpSync(path.join(packaged, '..', 'package.json'), path.join(folder, 'package.json'))
  cpSync(packaged, path.join(folder, 'native'), { recursive: true, filter: (file) => !lstatSync(file).isSymbolicLink() })
  return path.join(folder, 'native')
}

test('library links that npm did not make are made', () => {
  const nativeFolder = unpackWithoutLinks('unlinked')
  const { postgres, majorVersion } = findBinaries({ user, copiesFolder: root, say: assert.fail, nativeFolder })
  assert.equal(postgres, path.join(nativeFolder, 'bin', 'postgres'))
  assert.equal(majorVersion, '18')
})

test("programs in a folder closed to PostgreSQL's user run from a copy, made once", { skip: user ? false : 'needs root' }, () => {
  const nativeFolder = unpackWithoutLinks('closed home')
  chmodSync(path.join(root, 'closed home'), 0o700)
  // As npm unpacks under a strict umask.
  chmodSync(path.join(nativeFolder, 'lib', 'libicudata.so.60.2'), 0o600)
  const copiesFolder = path.join(root, 'copies')
  const said: string[] = []
  const find = () => findBinaries({ user, copiesFolder, say: (line) => said.push(line), nativeFolder })
  const { postgres } = find()
  assert.match(postgres, /copies\/postgres-18[^/]+\/native\/bin\/postgres$/)
  assert.match(said[0]!, /run from .*copies/)
  const madeAt = lstatSync(postgres).ctimeMs
  const parent = path.dirname(path.dirname(path.dirname(postgres)))
  // Left behind by starts that were killed, one of them just now.
  mkdirSync(path.join(parent, 'native-aB3dE6', 'native'), { recursive: true })
  utimesSync(path.join(parent, 'native-aB3dE6'), 0, 0)
  mkdirSync(path.join(parent, 'native-fG7hI9'))
  assert.equal(find().postgres, postgres)
  assert.equal(lstatSync(postgres).ctimeMs, madeAt)
  assert.deepEqual(readdirSync(parent).toSorted(), ['native', 'native-fG7hI9'])
})

test('programs that do not run on this system are refused in one line', () => {
  const nativeFolder = unpackWithoutLinks('other system')
  // What the loader of another C library does with them.
  writeFileSync(path.join(nativeFolder, 'bin', 'initdb'), '#!/lib/ld-of-another-system.so\n')
  const refused = () => findBinaries({ user, copiesFolder: path.join(root, 'refused'), say: assert.fail, nativeFolder })
  assert.throws(
    refused,
    (error: Error) => error instanceof StartError && /does not run here \(ENOENT\).*DATABASE_URL/.test(error.message),
  )
})

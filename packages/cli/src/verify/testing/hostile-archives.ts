import { gunzipSync, gzipSync } from 'node:zlib'
import { makeSource } from './stub-service.ts'

/** What reading the archive, or then its manifests, must say. */
export interface HostileArchive {
  readonly name: string
  readonly archive: Buffer
  readonly reason: RegExp
}

type Change = (block: Buffer) => void

const code = Buffer.from('code')
/** The otherwise good archive that all others are made of. */
export const goodArchive = makeSource(code)
const goodTar = gunzipSync(goodArchive)
const END = Buffer.alloc(1024)
const entries = goodTar.subarray(0, goodTar.length - END.length)

/**
 * A header and its content, spelled like a good one until `change` has seen it; the checksum fits unless it is changed
 * after.
 */
function entry(path: string, change: Change = () => undefined, body = 'x', after: Change = () => undefined): Buffer {
  const block = Buffer.alloc(512)
  block.write(path, 0, 'latin1')
  block.write('0000644\x000000000\x000000000\0', 100)
  block.write(`${body.length.toString(8).padStart(11, '0')}\x0000000000000\0`, 124)
  block.write('0', 156)
  block.write('ustar\x0000', 257)
  change(block)
  block.fill(' ', 148, 156)
  block.write(
    `${block
      .reduce((a, b) => a + b, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  )
  after(block)
  const content = Buffer.alloc(Math.ceil(body.length / 512) * 512)
  content.write(body, 0, 'latin1')
  return Buffer.concat([block, content])
}

/** A valid archive with more entries. */
function withEntries(...more: readonly Buffer[]): Buffer {
  return gzipSync(Buffer.concat([entries, ...more, END]))
}

const typed = (type: string) => withEntries(entry('a', (block) => block.write(type, 156)))
const at = (offset: number, text: string) => withEntries(entry('a', (block) => block.write(text, offset, 'latin1')))
const named = (path: string) => withEntries(entry(path))
/** A valid source with replaced or added files. */
const source = (files: Record<string, string>) => makeSource(code, files)
const lock = (entries: object, more: object = {}) =>
  source({ 'package-lock.json': JSON.stringify({ lockfileVersion: 3, packages: { '': {}, ...entries }, ...more }) })
const sha512 = `sha512-${'A'.repeat(86)}==`
const pkg = { version: '1.0.0', integrity: sha512 }

function withFlag(flag: number, field: Uint8Array): Buffer {
  const packed = Buffer.concat([goodArchive.subarray(0, 10), field, goodArchive.subarray(10)])
  packed[3] = flag
  return packed
}

function withPadding(): Buffer {
  const tar = Buffer.from(goodTar)
  tar[512 + 511] = 1
  return gzipSync(tar)
}

const extra = Buffer.from([4, 0, 65, 66, 0, 0])
const NAME = /not a name that source has/

const cases: readonly (readonly [name: string, archive: Buffer, reason: RegExp])[] = [
  // Files and scripts that steer npm beside the checked lock.
  ['npm-shrinkwrap.json', source({ 'npm-shrinkwrap.json': '{}' }), /npm-shrinkwrap\.json: it steers/],
  ['npm-shrinkwrap.json in a package', source({ 'packages/a/npm-shrinkwrap.json': '{}' }), /npm-shrinkwrap\.json: it steers/],
  ['npm-shrinkwrap.json in capitals', source({ 'NPM-Shrinkwrap.JSON': '{}' }), /Shrinkwrap\.JSON: it steers/],
  ['yarn.lock', source({ 'yarn.lock': '' }), /yarn\.lock: it steers/],
  ['binding.gyp', source({ 'binding.gyp': '{}' }), /binding\.gyp: it steers/],
  ['.npmrc', source({ '.npmrc': 'script-shell=evil' }), NAME],
  ['.npmrc in a package', source({ 'packages/a/.npmrc': '' }), NAME],
  ['node_modules', source({ 'node_modules/x/index.js': '' }), NAME],
  ['a lock in a package', source({ 'packages/a/package-lock.json': '{}' }), /a second lock file/],
  ['a lock of another version', source({ 'package-lock.json': '{"lockfileVersion":2,"packages":{}}' }), /not of version 3/],
  ['a lock with a member twice', source({ 'package-lock.json': '{"packages":{},"packages":{}}' }), /each member once/],
  ['a lock with packages of the old form too', lock({}, { dependencies: {} }), /not of version 3/],
  [
    'a lock that names another registry',
    lock({ 'node_modules/x': { ...pkg, resolved: 'https://evil.example/x' } }),
    /does not pin/,
  ],
  ['a lock without a hash', lock({ 'node_modules/x': { version: '1.0.0' } }), /does not pin/],
  ['a lock with a weak hash beside', lock({ 'node_modules/x': { ...pkg, integrity: `${sha512} sha1-x` } }), /does not pin/],
  ['a lock with an address for a version', lock({ 'node_modules/x': { ...pkg, version: 'git+ssh://evil/x' } }), /does not pin/],
  ['a lock that leaves the folder', lock({ 'node_modules/..': pkg }), /not in the source/],
  ['a lock with a folder that is not there', lock({ 'packages/evil': { version: '1.0.0' } }), /not in the source/],
  ['a lock with a link out of the source', lock({ 'node_modules/x': { link: true, resolved: '../../evil' } }), /links/],
  [
    'a script before the build',
    source({ 'package.json': '{"scripts":{"build":"x","prebuild":"y"}}' }),
    /other than build: "prebuild"/,
  ],
  ['a script at install', source({ 'package.json': '{"scripts":{"build":"x","postinstall":"y"}}' }), /other than build/],
  ['a script of a package', source({ 'packages/a/package.json': '{"scripts":{"prepare":"y"}}' }), /other than build: "prepare"/],
  ['no script build', source({ 'package.json': '{}' }), /no script build/],

  // Other dialects, which readers interpret differently.
  ['GNU magic', at(257, 'ustar  \0'), /GNU dialect/],
  ['GNU magic with a prefix', withEntries(entry('a', (b) => b.write('ustar  \0', 257) && b.write('src', 345))), /GNU dialect/],
  ['a tar before POSIX', at(257, '\0'.repeat(8)), /dialect before POSIX/],
  ['an unknown version', at(263, '99'), /magic is unknown/],
  ['a pax header', typed('x'), /a pax header/],
  ['a global pax header', typed('g'), /a pax header/],
  ['a GNU long name', typed('L'), /a GNU long name/],
  ['a GNU sparse file', typed('S'), /a GNU sparse file/],
  ['the old type of a file', typed('\0'), /before POSIX/],
  ['a hard link', withEntries(entry('a', (b) => b.write('1', 156) && b.write('COMMIT', 157), '')), /a hard link/],
  ['a symbolic link', withEntries(entry('a', (b) => b.write('2', 156) && b.write('/etc/passwd', 157), '')), /a symbolic link/],
  ['a device', typed('3'), /a device/],
  ['a fifo', typed('6'), /a fifo/],
  ['a file that names another', at(157, 'COMMIT'), /names another/],
  ['the fields of star', withEntries(entry('a', (b) => b.write('tar\0', 508))), /contains more fields/],
  ['a folder with content', typed('5'), /a folder with content/],
  ['a setuid file', at(100, '0004755'), /special bits/],
  ['a size in binary', at(124, '\x80\0\0\0\0\0\0\0\0\0\0\x01'), /size is not an octal number/],
  ['a huge size', at(124, '77777777777'), /cut off/],
  ['a size after spaces', at(124, '          1\0'), /size is not an octal number/],

  // Names.
  ['an absolute name', named('/etc/cron.d/x'), NAME],
  ['a name that leaves the folder', named('../x'), NAME],
  ['a prefix that leaves the folder', withEntries(entry('x', (b) => b.write('../..', 345))), NAME],
  ['a name with a control character', named('a\u001b[2Jb'), NAME],
  ['a name with a backslash', named('a\\..\\b'), NAME],
  ['a device of Windows', named('aux.ts'), NAME],
  ['a dot at the end', named('build.mjs.'), NAME],
  ['a file twice', named('build.mjs'), /contains build\.mjs twice/],
  ['a file twice, in other capitals', named('Build.mjs'), /other capitals/],
  ['a folder twice, in other capitals', withEntries(entry('src/a'), entry('SRC/b')), /other capitals/],
  ['a file where a folder is', withEntries(entry('src/a'), entry('src')), /as a file and as a folder/],

  // Bytes in places that some readers use.
  ['bytes after a name', withEntries(entry('a', (b) => b.write('hidden', 50))), /after the end of name/],
  ['bytes after a prefix', withEntries(entry('a', (b) => b.write('hidden', 400))), /after the end of prefix/],
  ['bytes after a file', withPadding(), /hides bytes after the end of COMMIT/],
  ['an entry after the end', gzipSync(Buffer.concat([goodTar, entry('b'), END])), /after its end/],
  ['bytes after the end', gzipSync(Buffer.concat([goodTar, Buffer.alloc(512, 1)])), /after its end/],
  ['no end', gzipSync(entries), /it has no end/],
  ['half an end', gzipSync(Buffer.concat([entries, Buffer.alloc(512)])), /it has no end/],
  ['half a block', gzipSync(Buffer.concat([goodTar, Buffer.alloc(100)])), /whole blocks/],
  ['a wrong checksum', withEntries(entry('a', undefined, 'x', (b) => b.write('0000001', 148))), /checksum is wrong/],
  ['nothing', gzipSync(END), /empty/],

  // gzip around it.
  ['two gzip members', Buffer.concat([goodArchive, goodArchive]), /follow the end of the gzip member/],
  ['a second, empty gzip member', Buffer.concat([goodArchive, gzipSync('')]), /follow the end of the gzip member/],
  ['bytes after the gzip member', Buffer.concat([goodArchive, Buffer.from('x')]), /^1 bytes follow/],
  ['an extra gzip field', withFlag(4, extra), /optional fields/],
  ['a gzip file name', withFlag(8, Buffer.from('a.tar\0')), /optional fields/],
  ['a gzip comment', withFlag(16, Buffer.from('hello\0')), /optional fields/],
  ['a bomb', gzipSync(Buffer.alloc(200 * 1024 * 1024), { level: 1 }), /unpacks to more/],
  ['a wrong CRC', Buffer.concat([goodArchive.subarray(0, -8), Buffer.alloc(4), goodArchive.subarray(-4)]), /checksum or length/],
]

export const hostileArchives: readonly HostileArchive[] = cases.map(([name, archive, reason]) => ({ name, archive, reason }))

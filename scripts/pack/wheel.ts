import { createHash } from 'node:crypto'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeZip, type ZipEntry } from './zip.ts'

export interface Wheel {
  /** pip accepts a wheel only under this name, which contains its version. */
  file: string
  bytes: Buffer
}

/**
 * The Python client as a wheel (PEP 427), made only from its source. pip installs it, and Python imports directly
 * from the file, because a wheel is a zip archive.
 */
export async function packPython(root: string): Promise<Wheel> {
  const folder = join(root, 'packages/python')
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  const modules: ZipEntry[] = []
  for await (const path of glob('atrium/**/{*.py,py.typed}', { cwd: join(folder, 'src') }))
    modules.push({ path, body: await readFile(join(folder, 'src', path)) })
  const info = `atrium_client-${version}.dist-info`
  const readme = await readFile(join(folder, 'README.md'), 'utf8')
  const entries: ZipEntry[] = [
    ...modules.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    { path: `${info}/licenses/LICENSE`, body: await readFile(join(root, 'LICENSE')) },
    { path: `${info}/METADATA`, body: Buffer.from(metadataOf(version, readme)) },
    {
      path: `${info}/WHEEL`,
      body: Buffer.from('Wheel-Version: 1.0\nGenerator: atrium\nRoot-Is-Purelib: true\nTag: py3-none-any\n'),
    },
  ]
  const record = [...entries.map(recordOf), `${info}/RECORD,,\n`].join('')
  const bytes = makeZip([...entries, { path: `${info}/RECORD`, body: Buffer.from(record) }])
  return { file: `atrium_client-${version}-py3-none-any.whl`, bytes }
}

/** The same as in pyproject.toml, which a test compares. */
function metadataOf(version: string, readme: string): string {
  return `Metadata-Version: 2.4
Name: atrium-client
Version: ${version}
Summary: The Python client of Atrium
License-Expression: Apache-2.0
License-File: LICENSE
Requires-Python: >=3.11
Provides-Extra: rooms
Requires-Dist: cryptography>=38; extra == "rooms"
Description-Content-Type: text/markdown

${readme}`
}

function recordOf({ path, body }: ZipEntry): string {
  return `${path},sha256=${createHash('sha256').update(body).digest('base64url')},${body.length}\n`
}

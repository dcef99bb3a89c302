import { randomUUID } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { dataFolderError, makeFolder } from '#config/secrets.ts'
import type { Db } from '#db/database.ts'
import { codeOf } from '#errors/caught.ts'
import { StartError } from '#errors/start-error.ts'
import { findBlobFolder, insertBlobFolder } from './folder-store.ts'
import { writeWhole } from './write-whole.ts'

/** Its name is hidden, so that it does not count as a blob. */
const folderIdFile = '.atrium-folder'

/**
 * Throws StartError unless `<dataDir>/blobs` is the folder that has the files of this installation. The first process
 * that stores files on disk gives the folder an id and records it in the database. Machines that share a folder share
 * the id; a folder of another machine, or a mount that is missing, has another one or none.
 */
export async function assertOwnFolder(db: Db, dataDir: string): Promise<void> {
  const folder = join(dataDir, 'blobs')
  await makeFolder(dataDir)
  if ((await findBlobFolder(db)) === undefined) await insertBlobFolder(db, (await readId(folder)) ?? (await makeId(folder)))
  const [recorded, own] = [await findBlobFolder(db), await readId(folder)]
  if (recorded === own) return
  throw new StartError(
    `ATRIUM_DATA_DIR: the files of this installation are in the folder with the id ${recorded}, and ${folder} has ` +
      `${own === undefined ? 'none' : `the id ${own}`}. ` +
      'Mount that folder here, or use S3: several machines cannot store files on separate disks (docs/storage.md)',
  )
}

async function readId(folder: string): Promise<string | undefined> {
  try {
    return (await readFile(join(folder, folderIdFile), 'utf8')).trim() || undefined
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw await dataFolderError(folder, error)
  }
}

/** Writes the file completely or not at all, and only once, because another process may start in the same folder. */
async function makeId(folder: string): Promise<string> {
  const id = randomUUID()
  const content = Buffer.from(`${id}\n`)
  const temporary = join(folder, '.growing')
  await mkdir(temporary, { recursive: true, mode: 0o700 })
  const file = { path: join(folder, folderIdFile), growing: join(temporary, randomUUID()), chunks: [content] }
  try {
    await writeWhole({ ...file, bytes: content.length, once: true })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw await dataFolderError(folder, error)
  }
  return (await readId(folder)) ?? id
}

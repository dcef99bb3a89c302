import { statement, type Db } from '#db/database.ts'

const findStatement = statement<{ id: string }>('blob-folders-find', `select id from blob_folders`)

/** The id of the folder that has the files; undefined: no process has stored files on disk yet. */
export async function findBlobFolder(db: Db): Promise<string | undefined> {
  return (await db.query(findStatement, []))[0]?.id
}

const insertStatement = statement<never>(
  'blob-folders-insert',
  // On conflict: of two processes that start at once, the first one decides, and the other compares its folder with
  // the recorded one.
  `insert into blob_folders (id) values ($1) on conflict on constraint blob_folders_pkey do nothing`,
)

export async function insertBlobFolder(db: Db, id: string): Promise<void> {
  await db.query(insertStatement, [id])
}

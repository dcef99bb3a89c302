import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'

const mebibyte = 1024 * 1024
/** Left to whatever else is on the disk. */
const spareBytes = 2 * 1024 * mebibyte

export interface FileSize {
  bytes: number
  /** Where it is less than was asked for. */
  note: string | undefined
}

/**
 * The size of a test's files: ATRIUM_TEST_FILE_MIB or the default, or less if that many do not fit into the temporary
 * folder.
 */
export async function testFileSize(count: number, defaultMebibytes: number): Promise<FileSize> {
  const asked = Number(process.env['ATRIUM_TEST_FILE_MIB'] ?? defaultMebibytes)
  const { bavail, bsize } = await statfs(tmpdir())
  const fitting = Math.floor((bavail * bsize - spareBytes) / count / mebibyte)
  const mebibytes = Math.max(1, Math.min(asked, fitting))
  const note = mebibytes < asked ? `${mebibytes} MiB a file instead of ${asked}: the disk has no room for more` : undefined
  return { bytes: mebibytes * mebibyte, note }
}

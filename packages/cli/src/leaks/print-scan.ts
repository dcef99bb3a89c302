import { type Scan, scanPath } from './scan.ts'

/** Scans the path and prints what was found, never a credential itself. Returns the exit code. */
export async function printScan(path: string): Promise<number> {
  const scan = await scanPath(path)
  for (const { path: file, line, kind, hint } of scan.leaks) {
    console.log(`${plain(file)}:${line}: ${words(kind)} ${hint}`)
  }
  for (const { path: file, reason } of scan.unreadable) console.error(`${plain(file)}: not read: ${reason}`)
  console.error(summary(scan))
  if (scan.leaks.length > 0) return 1
  return scan.unreadable.length > 0 ? 2 : 0
}

function summary({ leaks, filesRead, binaryFiles, largeFiles }: Scan): string {
  return `found: ${leaks.length}; files read: ${filesRead}; skipped: ${binaryFiles} binary, ${largeFiles} above 10 MiB`
}

/** `secretKey` → `secret key`. */
function words(kind: string): string {
  return kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

/** A name without characters that could change what a terminal shows. */
function plain(path: string): string {
  return path.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]/gu, '?')
}

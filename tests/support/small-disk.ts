import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

const mount = (...args: string[]) => spawnSync('mount', args).status === 0

/** The reason why the test cannot mount a disk, or false if it can. */
export function whyNoDisk(): string | false {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'mounts a tmpfs, which needs root on Linux'
  const folder = mkdtempSync(join(tmpdir(), 'atrium-disk-'))
  const mounted = mount('-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder)
  if (mounted) spawnSync('umount', [folder])
  rmdirSync(folder)
  return mounted ? false : 'this root may not mount a tmpfs'
}

/** A disk in memory that is removed after the test. Call this before what uses it, so that it is unmounted last. */
export function mountDisk(
  t: TestContext,
  megabytes: number,
): {
  folder: string
  resize(megabytes: number): void
  fill(): void
  clear(): void
} {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-disk-'))
  if (!mount('-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0755`, 'tmpfs', folder)) throw new Error('not mounted')
  const ballast = join(folder, 'ballast')
  t.after(() => {
    // A lazy unmount, because an ending process may still have a file open.
    spawnSync('umount', ['-l', folder])
    rmdirSync(folder)
  })
  return {
    folder,
    resize: (to) => {
      if (!mount('-o', `remount,size=${to}m`, folder)) throw new Error('not resized')
    },
    fill: () => {
      const file = openSync(ballast, 'a')
      const chunk = Buffer.alloc(64 * 1024)
      try {
        for (;;) writeSync(file, chunk)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      } finally {
        closeSync(file)
      }
    },
    clear: () => rmSync(ballast, { force: true }),
  }
}

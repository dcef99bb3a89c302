import { readdir, readFile } from 'node:fs/promises'

/** The resident memory of the process in bytes. Linux only. */
export async function residentBytes(pid: number): Promise<number> {
  return Number(/VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))![1]) * 1024
}

/** The most memory that the process ever had, in bytes. Linux only. */
export async function peakBytes(pid: number): Promise<number> {
  return Number(/VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))![1]) * 1024
}

/** The child process whose command line contains the text. */
export async function childWith(pid: number, text: string): Promise<number> {
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const status = await readFile(`/proc/${name}/status`, 'utf8').catch(() => '')
    const commandLine = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')
    if (new RegExp(`^PPid:\\s+${pid}$`, 'm').test(status) && commandLine.includes(text)) return Number(name)
  }
  throw new Error(`process ${pid} has no child ${text}`)
}

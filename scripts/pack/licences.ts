import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The licences of the packages to which these files belong, one after the other; empty if all files are of this
 * project.
 */
export async function licencesOf(root: string, inputs: readonly string[]): Promise<string> {
  const folders = new Set(inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []))
  const texts = await Promise.all([...folders].toSorted().map((folder) => licenceOf(join(root, folder))))
  return texts.join('\n\n')
}

async function licenceOf(folder: string): Promise<string> {
  const { name, version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { name: string; version: string }
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry))
  if (!file) throw new Error(`${name} is bundled, and its licence is not in its folder`)
  return `${name} ${version}\n${'='.repeat(60)}\n${(await readFile(join(folder, file), 'utf8')).trim()}\n`
}

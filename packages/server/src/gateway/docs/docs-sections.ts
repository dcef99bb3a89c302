import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { docsFiles } from './read-docs.ts'

const folder = fileURLToPath(new URL('../../../../../docs/', import.meta.url))

interface DocsSection {
  path: string
  title: string
  text: string
}

/** The guides as text, split at their headings. Programs search these sections. */
export function readDocsSections({ publicUrl, spacesUrl }: { publicUrl: string; spacesUrl: string }): DocsSection[] {
  return docsFiles.flatMap((file) => {
    const text = readFileSync(folder + file, 'utf8')
      .replaceAll('http://localhost:8787', publicUrl)
      .replaceAll('http://localhost:8788', spacesUrl)
    const page = /^# (.*)$/m.exec(text)?.[1] ?? file
    return text.split(/^(?=#{1,3} )/m).flatMap((part) => {
      const [heading = '', ...lines] = part.split('\n')
      const body = lines.join('\n').trim()
      const title = heading.replace(/^#+ /, '')
      return body === ''
        ? []
        : [{ path: `/docs/${file.replace(/\.md$/, '')}`, title: title === page ? page : `${page}: ${title}`, text: body }]
    })
  })
}

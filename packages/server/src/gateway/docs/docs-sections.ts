import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { lexer } from 'marked'
import { docsFiles, pathOf } from './read-docs.ts'
import { titleOf } from './render-markdown.ts'

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
    const page = titleOf(text) || file
    const sections: DocsSection[] = []
    // A line of code may look like a heading.
    for (const token of lexer(text)) {
      if (token.type === 'heading' && token['depth'] <= 3) {
        const title = titleOf(`# ${token['text']}`)
        sections.push({ path: pathOf(file), title: title === page ? page : `${page}: ${title}`, text: '' })
      } else {
        const section = sections.at(-1)
        if (section) section.text += token.raw
      }
    }
    return sections.map((section) => ({ ...section, text: section.text.trim() })).filter(({ text: body }) => body !== '')
  })
}

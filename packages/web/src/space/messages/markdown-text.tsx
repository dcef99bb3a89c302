import type { ComponentChildren, JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { CopyButton } from '../components/copy-button.tsx'
import type { Inline, MarkdownLink } from '../components/parse-inlines.ts'
import { type Block, parseMarkdown } from '../components/parse-markdown.ts'
import { t } from '../text/text.ts'

/**
 * Renders an agent's Markdown as elements of a fixed set. No HTML of the text reaches the page, and nothing is
 * loaded: pictures become links.
 */
export function MarkdownText({ text, id, children }: { text: string; id: string | undefined; children?: ComponentChildren }) {
  const blocks = useMemo(() => parseMarkdown(text), [text])
  return (
    <div class="text markdown" id={id} dir="auto">
      <Blocks blocks={blocks} />
      {children}
    </div>
  )
}

function Blocks({ blocks }: { blocks: readonly Block[] }) {
  // Headings start below the room's own h1 and skip no level, whatever the agent wrote.
  let level = 1
  return (
    <>
      {blocks.map((block, i) => {
        if (block.kind === 'heading') level = Math.min(block.level + 1, level + 1)
        return <BlockView key={i} block={block} level={level} />
      })}
    </>
  )
}

function BlockView({ block, level }: { block: Block; level: number }) {
  switch (block.kind) {
    case 'paragraph':
      return (
        <p dir="auto">
          <Inlines inlines={block.inlines} />
        </p>
      )
    case 'heading': {
      const Heading = `h${Math.min(level, 6)}` as 'h2'
      return (
        <Heading dir="auto" class={`heading level${block.level}`}>
          <Inlines inlines={block.inlines} />
        </Heading>
      )
    }
    case 'code':
      return (
        <div class="code" dir="ltr">
          <pre>
            <code>{block.text}</code>
          </pre>
          <CopyButton text={block.text} label={t.messages.copyCode} />
        </div>
      )
    case 'list':
      return <List block={block} />
    case 'quote':
      return (
        <blockquote>
          <Blocks blocks={block.blocks} />
        </blockquote>
      )
    case 'table':
      return <Table block={block} />
    case 'rule':
      return <hr />
  }
}

function List({ block: { start, items } }: { block: Block & { kind: 'list' } }) {
  const children = items.map((blocks, i) => (
    <li key={i} dir="auto">
      {blocks[0]?.kind === 'paragraph' ? (
        <>
          <Inlines inlines={blocks[0].inlines} />
          <Blocks blocks={blocks.slice(1)} />
        </>
      ) : (
        <Blocks blocks={blocks} />
      )}
    </li>
  ))
  return start === undefined ? <ul>{children}</ul> : <ol start={start}>{children}</ol>
}

function Table({ block: { head, rows } }: { block: Block & { kind: 'table' } }) {
  return (
    // A table that is too wide scrolls, so the keyboard must be able to focus it.
    <div class="table" tabIndex={0} role="group" aria-label={t.messages.table}>
      <table>
        <thead>
          <tr>
            {head.map((cell, i) => (
              <th key={i} scope="col" dir="auto">
                <Inlines inlines={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {row.map((cell, n) => (
                <td key={n} dir="auto">
                  <Inlines inlines={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Inlines({ inlines }: { inlines: readonly Inline[] }): JSX.Element {
  return <>{inlines.map((inline, i) => inlineView(inline, i))}</>
}

function inlineView(inline: Inline, key: number): ComponentChildren {
  switch (inline.kind) {
    case 'text':
      return inline.text
    case 'code':
      return <code key={key}>{inline.text}</code>
    case 'strong':
      return (
        <strong key={key}>
          <Inlines inlines={inline.children} />
        </strong>
      )
    case 'emphasis':
      return (
        <em key={key}>
          <Inlines inlines={inline.children} />
        </em>
      )
    case 'strike':
      return (
        <s key={key}>
          <Inlines inlines={inline.children} />
        </s>
      )
    case 'link':
      return <LinkView key={key} link={inline} />
  }
}

function LinkView({ link: { href, children, host } }: { link: MarkdownLink }) {
  return (
    <>
      <a href={href} title={href} target="_blank" rel="noopener noreferrer" tabIndex={-1}>
        <Inlines inlines={children} />
      </a>
      {host !== undefined && <bdi class="link-host"> ({host})</bdi>}
    </>
  )
}

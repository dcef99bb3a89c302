import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { HOSTILE_TEXTS } from '@atrium/web/testing/hostile-values'
import { escapeHtml } from '@atrium/web/share/escape-html'
import { highlight } from './highlight.ts'
import { renderMarkdown, titleOf } from './render-markdown.ts'

const render = (text: string) => renderMarkdown(text, (href) => href).html

test('headings, paragraphs, marks and links', () => {
  const text = '# The `page`\n\nOne **and *two* more**,\nthree `<b>`: [x](a.md), <https://a.example/>.\n'
  const { html } = renderMarkdown(text, (href) => (href === 'a.md' ? '/docs/a' : href))
  assert.equal(titleOf(text), 'The page')
  assert.equal(
    html,
    '<h1 id="the-page">The <code>page</code></h1>\n<p>One <strong>and <em>two</em> more</strong>,\nthree <code>&lt;b&gt;</code>: ' +
      '<a href="/docs/a">x</a>, <a href="https://a.example/">https://a.example/</a>.</p>',
  )
})

test('what looks like a mark and is none stays as it is', () => {
  assert.equal(render('2 * 3 * 4 and snake_case_name, [a] (b), a*b'), '<p>2 * 3 * 4 and snake_case_name, [a] (b), a*b</p>')
})

test('lists, also in each other, with code in them', () => {
  assert.equal(render('- a\n- b\n  goes on\n- c'), '<ul>\n<li>a</li>\n<li>b\ngoes on</li>\n<li>c</li>\n</ul>')
  assert.equal(
    render('1. one:\n\n   - `x`\n   - y\n\n2. two'),
    '<ol>\n<li><p>one:</p>\n<ul>\n<li><code>x</code></li>\n<li>y</li>\n</ul>\n</li>\n<li><p>two</p>\n</li>\n</ol>',
  )
  assert.match(render('1. run\n   ```sh\n   ls\n   ```\n'), /<li>run<div class="code".*<code>ls<\/code><\/pre><\/div>\n<\/li>/)
})

test('tables, with an empty heading cell', () => {
  assert.equal(
    render('| a | |\n|---|---|\n| `x` | y \\| z |'),
    '<div class="table" tabindex="0"><table><thead><tr><th>a</th><td></td></tr></thead>' +
      '<tbody><tr><td><code>x</code></td><td>y | z</td></tr></tbody></table></div>',
  )
})

test('code keeps its lines and its characters, and its words are marked', () => {
  assert.match(
    render('```sh refused\n# a <b>\n\nls   -l "$A"\n```'),
    /<code><span class="h-comment"># a &lt;b&gt;<\/span>\n\nls   -l <span class="h-string">&quot;\$A&quot;<\/span><\/code>/,
  )
  const text = (html: string) => html.replaceAll(/<[^>]*>/g, '')
  for (const language of ['sh', 'ts', 'python', 'json', 'text'])
    for (const hostile of [...HOSTILE_TEXTS, '"\\', "'", '`${', '"a": "b" // # 1 true'])
      assert.equal(text(highlight(hostile, language)), escapeHtml(hostile), language)
  assert.match(highlight('{"a": [1, true, "b"]}', 'json'), /h-attr.*h-number.*h-keyword.*h-string/)
})

test('nothing in a text becomes markup, and no link runs', () => {
  for (const hostile of [...HOSTILE_TEXTS, '<script>alert(1)</script>', '<img src=x onerror=alert(1)>']) {
    for (const text of [hostile, `# ${hostile}`, `- ${hostile}`, `\`${hostile}\``, `[x](${hostile})`, `|${hostile}|\n|---|`]) {
      const tags = render(text).match(/<\/?\w+/g) ?? []
      assert.deepEqual(
        tags.filter((tag) => !/^<\/?(?:h1|p|ul|ol|li|code|a|pre|strong|em|div|table|thead|tbody|tr|th|td|span)$/.test(tag)),
        [],
      )
      assert.doesNotMatch(render(text), /<a href="(?!https?:\/\/|\/|#)/)
    }
  }
  assert.equal(render('[x](javascript:alert`1`)'), '<p>x</p>')
})

test('every page that is served is rendered whole: no mark is left standing', () => {
  const folder = new URL('../../../../../docs/', import.meta.url)
  for (const name of [
    'payments',
    'turn',
    'verification',
    'guides/quickstart',
    'guides/webhooks',
    'errors/not_found',
    'errors/README',
  ]) {
    const html = render(readFileSync(new URL(`${name}.md`, folder), 'utf8')).replaceAll(/<code>[\s\S]*?<\/code>/g, '')
    assert.doesNotMatch(html, /```|\]\(|\*\*|(?:^|>)(?:#+ |\||- )/m, name)
  }
})

test('each row of a table is one line, because a line break ends the row', () => {
  const root = new URL('../../../../../', import.meta.url)
  const pages = globSync(['*.md', 'docs/**/*.md', 'packages/*/README.md', 'examples/**/*.md'], {
    cwd: root.pathname,
    exclude: ['**/node_modules'],
  })
  assert.ok(pages.length > 100, String(pages.length))
  const broken = pages.flatMap((page) => {
    const text = readFileSync(new URL(page, root), 'utf8').replaceAll(/^ *```.*?^ *```$/gms, '')
    return [...text.matchAll(/^\|.*[^|\n]$/gm)].map(([row]) => `${page}: ${row.slice(0, 60)}`)
  })
  assert.deepEqual(broken, [])
})

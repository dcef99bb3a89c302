import assert from 'node:assert/strict'
import { test } from 'node:test'
import { processorMs } from '../../../server/testing/processor-block.ts'
import { findScripts } from './html-scripts.ts'
import { CheckFailed } from './report.ts'

const files: readonly (readonly [string, readonly string[]])[] = [
  ['<script src="/a.js"></script>', ['/a.js']],
  ["<SCRIPT\n type=module\tSRC = '/a.js'></SCRIPT >", ['/a.js']],
  ['<script/src=/a.js></script>', ['/a.js']],
  ['<script src=/a.js src=/b.js></script>', ['/a.js']],
  ['<script data-src="/a.js" src="/b.js"></script>', ['/b.js']],
  ['<script title="><script src=/x.js>" src="/a.js"></script>', ['/a.js']],
  ['<!-- <script> --><script src=/a.js></script>', ['/a.js']],
  ['<!--><script src=/a.js></script>-->', ['/a.js']],
  ['<!---><script src=/a.js></script>-->', ['/a.js']],
  ['<!-- --!><script src=/a.js></script>-->', ['/a.js']],
  ['<!-- <script src=/x.js></script> -->', []],
  ['<style><script src=/x.js></script></style><script src=/a.js></script>', ['/a.js']],
  ['<title></titles><script src=/x.js></script></title>', []],
  ['<noscript><script src=/x.js></script></noscript>', []],
  ['a < b <3 <script src=/a.js></script>', ['/a.js']],
  ['<script src></script>', ['']],
  ['<link rel="modulepreload" href="/a.js"><link rel="x PRELOAD y" href=/b.css>', ['/a.js', '/b.css']],
  ['<link rel=stylesheet href=/a.css>', []],
  ['<p title=\'<script src="/x.js">\'>', []],
  ['<a href=//x/><script src=/a.js></script>', ['/a.js']],
]
for (const [html, found] of files) {
  test(`the files of ${JSON.stringify(html)} are those that a browser loads`, () => {
    assert.deepEqual(findScripts(html).files, found)
  })
}

const inline: readonly (readonly [string, readonly string[]])[] = [
  ['<script>a()</script>', ['a()']],
  ['<script>a("</scripts>")</script><script>\nb()\n</script\n>', ['a("</scripts>")', '\nb()\n']],
  ['<script>a()\r\nb()\rc()</script>', ['a()\nb()\nc()']],
  ['<!-- <script>a()</script> -->', []],
  ['<script type="text/x">a</SCRIPT>', ['a']],
]
for (const [html, found] of inline) {
  test(`the inline scripts of ${JSON.stringify(html)} are those that a browser runs`, () => {
    assert.deepEqual(findScripts(html).inline, found)
  })
}

const refused = [
  '<script>a()',
  '<style>',
  '<!-- ',
  '<script ',
  '<script src="x',
  '<script><!-- <script> --></script>',
  '<svg><style><!--</style><script href=x></script>',
  '<math></math>',
  '<select><style><script src=x></style></select>',
  '<plaintext>',
  '<frameset>',
  '<![CDATA[<script>]]>',
  '<?xml version="1.0"?>',
  '</ script>',
  '<p>\0</p>',
]
for (const html of refused) {
  test(`what cannot be told is refused: ${JSON.stringify(html)}`, () => {
    assert.throws(() => findScripts(html), CheckFailed)
  })
}

/** A megabyte of what makes a scanner look at the rest again and again. */
const repeated = [
  '<script',
  '<script>',
  '<script ',
  '<link ',
  '<!--',
  '<!-- -',
  '<a ',
  '<a b=',
  '<a b="',
  '</a',
  '<',
  '<style>',
  '<title></title>',
  '<p>',
  '-',
]
for (const part of repeated) {
  test(`a page of ${JSON.stringify(part)} again and again is read in one pass`, () => {
    const html = part.repeat(Math.ceil(1_048_576 / part.length))
    const started = processorMs()
    for (const page of [html, `<!--${html}`, `<script src="${html}`, `<script>${html}`, `<a ${html}>`]) {
      try {
        findScripts(page)
      } catch (error) {
        assert.ok(error instanceof CheckFailed)
      }
    }
    assert.ok(processorMs() - started < 5_000, `${processorMs() - started} ms`)
  })
}

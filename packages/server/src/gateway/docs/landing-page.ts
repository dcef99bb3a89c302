import { escapeHtml } from '@atrium/web/share/escape-html'
import { archDrawing } from '@atrium/web/share/arch'
import { codeBlock } from './highlight.ts'
import type { DocsSettings } from './read-docs.ts'

/** The first page of an installation: what it is, a call to copy, and links. */
export function landingBody({ publicUrl, spacesUrl, developmentKey }: DocsSettings): string {
  const call = [
    `curl ${publicUrl}/v1/collections \\`,
    `  -H 'Authorization: Bearer ${developmentKey ?? 'wpk_…'}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{"metadata": {"share_title": "Lantern night"}}'`,
  ].join('\n')
  const key = developmentKey
    ? 'This is a development server: the key in the call works. Paste it.'
    : 'Put in the publishable key of your app. <a href="/docs/guides/keys">Which key may do what</a>.'
  return (
    `<section class="hero"><div><h1>A place for the things people make together</h1>` +
    `<p class="lead">Atrium is a self-hosted platform that apps are built on: collections that people add to, pictures, share pages, ` +
    `AI agents, credits, and rooms whose history the operator cannot read. One HTTP API, two keys.</p>` +
    `<p class="actions"><a class="primary" href="/docs/guides/quickstart">Start with the quickstart</a><a href="${escapeHtml(spacesUrl)}/space">Make a room</a></p></div>` +
    `<div class="drawing">${archDrawing('atrium', 'still')}</div></section>` +
    `<section class="first"><div><h2>The first call</h2><p>It makes a collection. The answer has its id, and the token of its owner, which is ` +
    `shown once.</p><p>${key}</p></div>${codeBlock(call, 'sh', 'Make a collection')}</section>` +
    `<section><h2>Where to go from here</h2><ul class="cards">` +
    card(
      '/docs/guides/collections',
      'Collections and share pages',
      'People add items from their browsers; the owner curates; anyone with the link sees the page.',
    ) +
    card(
      `${spacesUrl}/space`,
      'Rooms',
      'Messages are sealed to a key that stays in the link. Anyone can check what the service stores.',
    ) +
    card(
      '/docs/guides/sessions',
      'Agents and credits',
      'Agents are launched into rooms and paid per launch, from a double-entry ledger.',
    ) +
    card('/docs', 'API reference', 'Every operation with its fields, errors and examples in curl, TypeScript and Python.') +
    card('/docs/errors', 'Errors', 'Each code with its cause and what to do.') +
    card('/downloads', 'Downloads', 'The TypeScript client, the command line and the verifier, made by this server.') +
    `</ul></section><p class="files">The API answers at <code>${escapeHtml(publicUrl)}/v1</code>. For programs: <a href="/openapi.json">openapi.json</a>, ` +
    `<a href="/openapi.yaml">openapi.yaml</a>, <a href="/openapi.full.json">openapi.full.json</a>, <a href="/openapi.full.yaml">openapi.full.yaml</a>.</p>`
  )
}

function card(path: string, title: string, text: string): string {
  return `<li><a href="${escapeHtml(path)}"><strong>${title}</strong><span>${text}</span></a></li>`
}

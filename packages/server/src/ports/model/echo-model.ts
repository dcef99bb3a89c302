import { cutText } from './cut-text.ts'
import { estimateUsage } from './fit-history.ts'
import type { Model, Turn } from './model.ts'

const introduction =
  "I am Atrium's built-in echo: no language model is configured for this agent, so I repeat what is said. Write “help” to see what I can do."

const help = [
  'Echo, no language model. What I can do:',
  '• anything: I repeat it and count its words',
  '• “reverse …”: I turn it around',
  '• “help”: this',
].join('\n')

const maxQuoteBytes = 2_000
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })
const words = new Intl.Segmenter('und', { granularity: 'word' })

/**
 * Answers without a provider, so that everything around a model can be tried. The same history gives the same
 * answer.
 */
export function echoModel(): Model {
  return {
    reply: async ({ instructions, history, signal, meter }) => {
      signal.throwIfAborted()
      const text = answer(history)
      // Estimated as for a provider that reports none, so that a budget can be tried.
      const usage = estimateUsage([instructions, ...history.map((turn) => turn.text)], [text])
      await meter?.answered(usage)
      return { text, usage, toolCalls: 0 }
    },
  }
}

function answer(history: Turn[]): string {
  const asked = history.findLast((turn) => turn.author === 'person')
  const introduced = history.some((turn) => turn.author === 'agent' && turn.text.startsWith(introduction))
  const parts = [...(introduced ? [] : [introduction]), ...(asked ? [echo(asked)] : [])]
  return parts.join('\n\n') || introduction
}

function echo({ text, name }: Turn): string {
  const said = text.replaceAll('\0', '').toWellFormed().trim()
  if (/^\/?help[.!?]?$/i.test(said)) return help
  const [, backwards] = /^\/?reverse\s+(.+)$/is.exec(said) ?? []
  if (backwards) return `Echo, backwards: “${reverse(cutText(backwards, maxQuoteBytes))}”`
  const count = countWords(said)
  const by = name ? `${cutText(name.toWellFormed().replaceAll(/\s+/g, ' '), 240)} said` : 'you said'
  return `Echo: ${by} “${cutText(said, maxQuoteBytes)}” (${count} ${count === 1 ? 'word' : 'words'})`
}

/** Splits a text into graphemes, so that an emoji keeps its modifiers. */
function reverse(text: string): string {
  return Array.from(graphemes.segment(text), ({ segment }) => segment)
    .reverse()
    .join('')
}

function countWords(text: string): number {
  return Array.from(words.segment(text)).filter(({ isWordLike }) => isWordLike).length
}

import { cutText } from './cut-text.ts'
import type { Turn } from './model.ts'

/**
 * Tokenisers make about 4 bytes of English, 3 of Chinese or Japanese (one character) and 2 to 3 of code or rare
 * scripts into one token. 3 counts rather too many than too few, and no tokeniser of a provider is needed here.
 */
const bytesPerToken = 3

/** The tokens of a turn besides its text: the line with its author, and the provider's frame. */
const tokensPerTurn = 16

/** Estimates how many tokens a text has. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken)
}

/** Estimates what a model's answer used: upwards, from the bytes of what it read and wrote. */
export function estimateUsage(read: string[], written: string[]): { inputTokens: number; outputTokens: number } {
  const sum = (texts: string[]) => texts.reduce((tokens, text) => tokens + estimateTokens(text), 0)
  return { inputTokens: sum(read), outputTokens: sum(written) }
}

/**
 * Returns the newest turns that fit, oldest first. The newest turn of a person is always among them, shortened if it
 * is too long by itself: without it there would be nothing to answer.
 */
export function fitHistory(history: Turn[], budgetTokens: number): Turn[] {
  const asked = history.findLastIndex((turn) => turn.author === 'person')
  const said = history[asked]
  const question = said && cutTurn(said, budgetTokens)
  let left = budgetTokens - (question ? tokensOf(question) : 0)
  const kept: Turn[] = []
  for (let i = history.length - 1; i >= 0; i--) {
    const turn = i === asked ? question : history[i]
    if (!turn) continue
    if (i !== asked) left -= tokensOf(turn)
    if (left < 0) break
    kept.push(turn)
  }
  if (question && !kept.includes(question)) kept.push(question)
  return kept.reverse()
}

function tokensOf({ text, name = '' }: Turn): number {
  return estimateTokens(text) + estimateTokens(name) + tokensPerTurn
}

function cutTurn(turn: Turn, budgetTokens: number): Turn {
  const room = budgetTokens - tokensPerTurn - estimateTokens(turn.name ?? '')
  return { ...turn, text: cutText(turn.text, Math.max(room * bytesPerToken, 200)) }
}

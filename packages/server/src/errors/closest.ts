const maxLength = 64

/**
 * Returns the candidate that `word` is probably a typo of, for a suggestion in an error: the same letters with other
 * case or separators (`shareTitle` for `share_title`), or at most two changed, missing, added or swapped characters.
 * A word of more than 64 characters has no suggestion, so that the work is bounded.
 */
export function closest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > maxLength) return undefined
  const letters = lettersOf(word)
  let best: string | undefined
  // Short words are near to everything: one change for four letters, two from eight.
  let bestDistance = letters.length < 4 ? 0 : letters.length < 8 ? 1 : 2
  for (const candidate of candidates) {
    if (candidate === word) return candidate
    const distance = editDistance(letters, lettersOf(candidate))
    if (distance > bestDistance || (distance === bestDistance && best !== undefined)) continue
    best = candidate
    bestDistance = distance
  }
  return best
}

function lettersOf(word: string): string {
  return word.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

/** The optimal string alignment distance: insertions, deletions, substitutions, and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const at = (cells: number[], index: number) => cells[index] ?? 0
      const same = a[i - 1] === b[j - 1]
      let cell = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cell = Math.min(cell, at(before, j - 2) + 1)
      row.push(cell)
    }
    before = last
    last = row
  }
  return last[b.length] ?? 0
}

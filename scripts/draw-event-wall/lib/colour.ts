/** Mixing hex colours. */
const parts = (hex: string): readonly number[] => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))

export function mix(from: string, to: string, share: number): string {
  const t = Math.min(1, Math.max(0, share))
  const end = parts(to)
  return `#${parts(from)
    .map((value, at) =>
      Math.round(value + ((end[at] ?? value) - value) * t)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`
}

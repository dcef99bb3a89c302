const singular: Record<string, string> = { characters: 'character', items: 'item', properties: 'property' }

/** The validator's message about a length, as a person would say it; any other message as it is. */
export function readableLength(message: string): string {
  return message
    .replace(/^must not have fewer than 1 (?:characters|items|properties)$/, 'must not be empty')
    .replace(
      /^(must not have more than 1 )(characters|items|properties)$/,
      (_, begin: string, noun: string) => begin + singular[noun],
    )
}

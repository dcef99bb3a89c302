const COLOURS =
  'amber ash azure birch black blue brass bronze brown cedar cherry clay cloud cobalt copper coral cream crimson dawn dusk ebony elm ember fern flint frost gold granite green grey hazel honey indigo iron ivory jade jet lemon lilac lime linen maple mint moss night ochre olive onyx opal pearl pine plum quartz red rose ruby rust sage sand silver slate snow teal willow'.split(
    ' ',
  )
const ANIMALS =
  'adder badger bear beaver bee bison boar crane crow deer dove duck eagle eel elk falcon ferret finch fox frog goat goose gull hare hawk heron horse ibex jay kite koala lark lemur lion lizard lynx magpie marten mole moose moth mouse newt otter owl panda pike puffin quail rabbit raven robin salmon seal shark sheep snail sparrow stork swan tiger toad trout wolf'.split(
    ' ',
  )
/** Crockford's alphabet, without I, L, O and U, which look like other characters. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * Derives the name of a guest from the thumbprint of the device key: two words that are easy to say and ten
 * characters that are easy to compare. They show 62 of its bits, so finding another key with the same name takes 2^62
 * attempts.
 */
export function guestName(thumbprint: string): string {
  const bits = bitsOf(thumbprint)
  const word = (words: readonly string[], start: number) => words[Number.parseInt(bits.slice(start, start + 6), 2)] ?? ''
  const code = Array.from({ length: 10 }, (_, i) => DIGITS[Number.parseInt(bits.slice(12 + 5 * i, 17 + 5 * i), 2)]).join('')
  return `${capitalised(word(COLOURS, 0))} ${capitalised(word(ANIMALS, 6))} ${code.slice(0, 5)}-${code.slice(5)}`
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** The first 66 bits: a thumbprint is base64url, with six bits per character. */
function bitsOf(thumbprint: string): string {
  const values = Array.from(thumbprint.slice(0, 11), (character) => Math.max(ALPHABET.indexOf(character), 0))
  return values
    .map((value) => value.toString(2).padStart(6, '0'))
    .join('')
    .padEnd(66, '0')
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { difference, impressionOf, type Impression } from './testing/pixels.ts'
import { compose } from './compose.ts'
import { paintPicture } from './paint-picture.ts'
import { createRandom } from './random.ts'
import { STYLE_OF } from './styles/styles.ts'
import { readPrompt } from './reading/read-prompt.ts'

const size = { width: 192, height: 128 }

async function seen(prompt: string, seed = 1): Promise<Impression> {
  return impressionOf((await paintPicture({ prompt, seed, ...size })).png)
}

/** The mean over several seeds, because a single picture may be an exception. */
async function usually(prompt: string, value: (one: Impression) => number): Promise<number> {
  const all = await Promise.all([1, 2, 3, 4].map(async (seed) => value(await seen(prompt, seed))))
  return all.reduce((sum, one) => sum + one, 0) / all.length
}

describe('the description', () => {
  it('names lit windows only where they are lit', async () => {
    const day = await paintPicture({ prompt: 'a cabin in the forest by day, gouache', seed: 1, ...size })
    const night = await paintPicture({ prompt: 'a cabin in the forest at night, gouache', seed: 1, ...size })
    assert.match(day.alt, /a cottage[,.]/)
    assert.match(night.alt, /a cottage with lit windows/)
  })
})

describe('a picture', () => {
  for (const subject of ['harbour', 'mountains', 'forest', 'garden', 'desert', 'winter village', 'fields']) {
    it(`of ${subject} is darker at night than by day`, async () => {
      const day = await usually(`${subject} at noon, gouache`, ({ brightness }) => brightness)
      const night = await usually(`${subject} at night, gouache`, ({ brightness }) => brightness)
      assert.ok(night < day - 0.15, `${night} against ${day}`)
    })
  }

  it('is warmer at dusk than at night, and when asked to be warm rather than cold', async () => {
    const warmth = ({ warmth }: Impression): number => warmth
    assert.ok((await usually('sea at dusk, gouache', warmth)) > (await usually('sea at night, gouache', warmth)) + 0.05)
    assert.ok(
      (await usually('warm golden sea by day, gouache', warmth)) >
        (await usually('cold blue sea by day, gouache', warmth)) + 0.05,
    )
  })

  it('has a style for each word that names one, and no two look alike', async () => {
    const words = {
      gouache: 'gouache',
      paper: 'papercut',
      riso: 'risograph',
      woodblock: 'woodcut',
      poster: 'poster',
      ink: 'ink wash',
      glass: 'stained glass',
      linocut: 'linocut',
    }
    const pictures = await Promise.all(
      Object.entries(words).map(async ([style, word]) => {
        const picture = await paintPicture({ prompt: `mountain lake by day, ${word}`, seed: 2, ...size })
        assert.equal(picture.style, style)
        return picture
      }),
    )
    for (const [index, one] of pictures.entries()) {
      for (const other of pictures.slice(index + 1))
        assert.ok((await difference(one.png, other.png)) > 0.3, `${one.style} and ${other.style}`)
    }
  })

  it('in ink has next to no colour, in stained glass much', async () => {
    assert.ok((await seen('forest, ink wash')).colour < 0.02)
    assert.ok((await seen('forest, stained glass')).colour > 0.06)
  })

  it('left to the seed comes in at least six styles', () => {
    const styles = new Set(Array.from({ length: 60 }, (_, seed) => readPrompt('mountains', createRandom(`${seed}`)).style))
    assert.ok(styles.size >= 6, [...styles].join())
  })

  it('holds nothing of the prompt in what is drawn', () => {
    const hostile = '</g><script>harbour</script> mountains & <text>BOO</text> "\'><image href="http://169.254.169.254/"/>'
    for (const style of ['gouache', 'paper', 'woodblock', 'poster']) {
      const random = createRandom(style)
      const { picture } = compose(readPrompt(`${hostile} ${style}`, random), random, 512, 512)
      const drawn = picture.plates.map((plate) => (plate.kind === 'shapes' ? plate.body : '')).join('')
      assert.ok(drawn.length > 5000)
      assert.doesNotMatch(drawn, /script|BOO|<text|<image|href|http/)
      assert.doesNotMatch(drawn, /NaN|undefined|Infinity/)
    }
  })
})

describe('every subject in every style', () => {
  const prompts = [
    'harbour',
    'sea',
    'mountains',
    'forest',
    'city',
    'garden',
    'lanterns',
    'night sky with stars',
    'desert',
    'village',
    'street',
    'robin',
    'fields',
    'river',
    'still life',
    'abstract',
  ]
  const styles = ['gouache', 'papercut', 'riso', 'woodcut', 'poster', 'ink', 'stained glass', 'linocut']
  for (const style of styles)
    it(`${style}: rain and snow are drawn, as the description says`, async () => {
      for (const weather of ['rain', 'snow'] as const) {
        const paint = async (hasFall: boolean) => {
          const random = createRandom(style)
          const reading = { ...readPrompt(`mountains by day, ${style}`, random), weather }
          const { picture } = compose(reading, random, 384, 256)
          const plates = picture.plates.filter(({ kind }) => kind !== 'fall')
          assert.equal(plates.length, picture.plates.length - 1)
          return STYLE_OF[reading.style].paint(hasFall ? picture : { ...picture, plates })
        }
        const [fall, none] = await Promise.all([paint(true), paint(false)])
        assert.ok(
          fall.data.some((value, at) => Math.abs(value - none.data[at]!) > 0.05),
          weather,
        )
      }
    })

  for (const prompt of prompts) {
    it(`${prompt}: sound drawings, upright and across, with rain and snow`, () => {
      for (const style of styles) {
        for (const [width, height] of [
          [768, 512],
          [512, 768],
          [2048, 256],
          [256, 2048],
        ] as const) {
          const random = createRandom(`${prompt}${style}${width}`)
          const { picture, words } = compose(
            readPrompt(`${prompt} ${style} ${width === 512 ? 'in the rain' : 'in falling snow'}`, random),
            random,
            width,
            height,
          )
          const drawn = picture.plates.map((plate) => (plate.kind === 'shapes' ? plate.body : '')).join('')
          assert.doesNotMatch(drawn, /NaN|undefined|Infinity/)
          assert.ok(words.length > 0 && picture.plates.length > 2)
        }
      }
    })
  }
})

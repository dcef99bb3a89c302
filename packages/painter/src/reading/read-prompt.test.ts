import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRandom } from '../random.ts'
import { readPrompt } from './read-prompt.ts'
import type { Reading } from './reading.ts'

const read = (prompt: string): Reading => readPrompt(prompt, createRandom('test'))

describe('reading a prompt', () => {
  const subjects: Record<string, string[]> = {
    harbour: ['A quiet harbour', 'Hafen im Nebel', 'el puerto', '港の朝'],
    sea: ['the open sea', 'la mer', 'море', '바다', 'moon over the sea'],
    mountains: ['MOUNTAINS', 'die Berge', 'montañas', '富士山', 'горы', 'جبال', 'पहाड़'],
    forest: ['a quiet forest', 'der Wald', 'Herbstwald', 'forêt', '森', 'лес'],
    city: ['city at night', 'ночной город', '都市', 'skyline'],
    garden: ['Sommergarten mit Mohnblumen', 'Blumenwiese', 'Sonnenblumen', 'tulips in spring', '花', 'jardin'],
    lanterns: ['paper lanterns over the river', '灯籠', 'фонари'],
    desert: ['desert', 'sandy dunes', 'الصحراء', 'пустыня', 'מדבר'],
    village: ['winter', 'a snowy village', 'Weihnachten'],
    street: ['a rainy street', 'eine Gasse', 'rue de Paris'],
    bough: ['a bird on a branch', 'Kirschblüte', '桜'],
    fields: ['wheat fields', 'windmill', 'les collines'],
    river: ['a bridge over the river', 'Brücke', 'мост'],
    stilllife: ['still life with pears', 'Stillleben', 'натюрморт', 'a vase'],
    abstract: ['abstract', 'entanglement of our quarterly goals', '', '12345'],
  }
  for (const [subject, prompts] of Object.entries(subjects)) {
    it(`finds ${subject} in several languages`, () => {
      for (const prompt of prompts) assert.equal(read(prompt).subject, subject, prompt)
    })
  }

  it('finds the hour', () => {
    assert.equal(read('sea at night').time, 'night')
    assert.equal(read('Meer bei Sonnenuntergang').time, 'dusk')
    assert.equal(read('夜明けの海').time, 'dawn')
    assert.equal(read('mer à midi').time, 'day')
    assert.equal(read('moon over the sea').time, 'night')
  })

  it('finds the weather, and snow on the ground', () => {
    assert.equal(read('street in the rain').weather, 'rain')
    assert.equal(read('Gewitter über dem Meer').weather, 'storm')
    assert.equal(read('harbour in fog').weather, 'mist')
    assert.equal(read('village in winter').snow, true)
    assert.equal(read('village').snow, false)
  })

  it('does not take a part of a word, or a small word of another language, for a thing', () => {
    for (const prompt of ['the', 'I see what you mean', 'a special case', 'seamless', 'important', 'scarcity', 'chat'])
      assert.equal(read(prompt).subject, 'abstract', prompt)
    assert.equal(read('paper boats on the sea').style, readPrompt('paper boats on the sea', createRandom('test')).style)
    assert.equal(
      Array.from({ length: 20 }, (_, seed) => readPrompt('paper lanterns', createRandom(`${seed}`)).style).every(
        (style) => style === 'paper',
      ),
      false,
    )
  })
})

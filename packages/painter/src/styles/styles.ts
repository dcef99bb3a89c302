import type { StyleName } from '../reading/reading.ts'
import { glass } from './glass.ts'
import { gouache } from './gouache.ts'
import { ink } from './ink.ts'
import { linocut } from './linocut.ts'
import { paper } from './paper.ts'
import { poster } from './poster.ts'
import { riso } from './riso.ts'
import type { Style } from './style.ts'
import { woodblock } from './woodblock.ts'

export const STYLE_OF: Record<StyleName, Style> = { gouache, paper, riso, woodblock, poster, ink, glass, linocut }

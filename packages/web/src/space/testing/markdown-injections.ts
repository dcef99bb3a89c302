import { HOSTILE_TEXTS } from '../../testing/hostile-values.ts'

/** For tests: Markdown that must lead nowhere. */
export const DEAD_LINKS = [
  '[x](javascript:canary())',
  '[x](JaVaScRiPt:canary())',
  '[x](java\nscript:canary())',
  '[x](data:text/html,<script>canary()</script>)',
  '[x](vbscript:x)',
  '[x](//evil.example)',
  '[x](/space)',
  '[x](https://user@evil.example)',
  '[x](https://bank.example:443@evil.example/)',
  '[x](file:///etc/passwd)',
  '[x](&#106;avascript:canary())',
  '[x](https:\\\\evil.example)',
  '<javascript:canary()>',
  '![x](javascript:canary())',
  '[x][y]\n\n[y]: javascript:canary()',
]

/** Texts with which an agent might try to break out of its message. */
export const INJECTIONS: readonly string[] = [
  ...DEAD_LINKS,
  ...HOSTILE_TEXTS,
  ...HOSTILE_TEXTS.map((text) => `# ${text}\n- **${text}**\n\n|a|\n|-|\n|${text}|\n> [${text}](${text})`),
]

import { t } from '../text/text.ts'

/** Marks a name as an agent's in words, because persons and agents can choose any name. */
export function AgentMark() {
  return <span class="agent-mark">{t.authors.agent}</span>
}

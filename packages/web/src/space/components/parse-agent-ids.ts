const AGENT_ID = /^agt_[0-9A-Za-z]{22}$/

/** Reads ids of agents in the forms in which people paste them: separated by commas, spaces or line breaks. */
export function parseAgentIds(text: string): { ids: string[]; wrong: string[] } {
  const words = text.split(/[\s,;]+/).filter((word) => word !== '')
  return {
    ids: [...new Set(words.filter((word) => AGENT_ID.test(word)))],
    wrong: words.filter((word) => !AGENT_ID.test(word)),
  }
}

let steps = 0

/** Begins a step of the story. */
export function step(title: string): void {
  console.log(`\n${++steps}. ${title}`)
}

/** Says what happened in it. */
export function note(text: string): void {
  console.log(`   ${text}`)
}

interface Use {
  /** Complete commands, as a user would type them. */
  examples: readonly string[]
  /** Environment variables that the command reads, with their meaning. */
  environment?: Readonly<Record<string, string>>
  /** The causes of failures, and the exit codes. */
  errors: readonly string[]
}

const columns = 80

/** The text after the options in the help of a command. */
export function helpText({ examples, environment, errors }: Use): string {
  const variables = Object.entries(environment ?? {})
  const width = Math.max(0, ...variables.map(([name]) => name.length)) + 2
  return [
    ['\nExamples:', ...examples.map((line) => `  ${line}`)],
    variables.length > 0 ? ['\nEnvironment:', ...variables.map(([name, text]) => wrap(name.padEnd(width), text))] : [],
    ['\nErrors:', ...errors.map((text) => wrap('', text))],
  ]
    .flat()
    .join('\n')
}

/** Wraps the text between words. Further lines are indented by the width of the label. */
function wrap(label: string, text: string): string {
  const indent = ' '.repeat(label.length + 2)
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > columns) {
      lines.push(line)
      line = ''
    }
    line += line === '' ? word : ` ${word}`
  }
  return `  ${label}${[...lines, line].join(`\n${indent}`)}`
}

/** What a command reads that calls a running installation as its operator. */
export const operatorEnvironment = {
  ATRIUM_PUBLIC_URL: 'address of the installation; default: http://localhost:PORT',
  ATRIUM_ADMIN_TOKEN: "the operator's token; default: admin-token in ATRIUM_DATA_DIR",
}

const operatorErrors = [
  'Exit code 1 and one line on stderr if no server answers at ATRIUM_PUBLIC_URL, if it does not accept the token, or if the API refuses the call.',
]

/** The help of a command that calls a running installation as its operator. */
export function operatorHelp(examples: readonly string[], errors: readonly string[] = []): string {
  return helpText({ examples, environment: operatorEnvironment, errors: [...operatorErrors, ...errors] })
}

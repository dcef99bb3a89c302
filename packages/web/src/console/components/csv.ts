/** A table as CSV (RFC 4180), with a byte order mark, by which spreadsheets know that it is UTF-8. */
export function toCsv(head: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string {
  return `\uFEFF${[head, ...rows].map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`
}

function cell(value: string | number | null): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  // A spreadsheet runs text that begins like this as a formula, and the text may be a visitor's. Some read the signs
  // of full width as the others.
  const text = /^[=+\-@\t\r\n＝＋－＠]/u.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

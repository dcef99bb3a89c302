import { StartError } from '#errors/start-error.ts'

/** A variable's whole number. */
export function integer(name: string, text: string, min: number, max: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new StartError(`${name} must be a whole number from ${min} to ${max}, not "${text}"`)
  return value
}

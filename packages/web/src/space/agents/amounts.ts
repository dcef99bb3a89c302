export function creditsInText(credits: number): string {
  if (credits === 0) return 'nothing'
  return credits === 1 ? '1 credit' : `${credits.toLocaleString()} credits`
}

export function minutesInText(minutes: number): string {
  if (minutes === 1) return '1 minute'
  if (minutes % 60 !== 0) return `${minutes.toLocaleString()} minutes`
  return minutes === 60 ? '1 hour' : `${minutes / 60} hours`
}

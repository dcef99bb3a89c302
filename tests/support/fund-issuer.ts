import { sellCredits } from './credits.ts'

/** Gives a tenant's issuer balance credits. */
export async function fundIssuer(origin: string, secretKey: string, credits: number): Promise<void> {
  await sellCredits(origin, secretKey, 'prefund', credits)
}

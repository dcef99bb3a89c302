import { defaultProvider } from '@aws-sdk/credential-provider-node'
import { messageOf } from '#errors/caught.ts'
import { CredentialsError } from './credentials-error.ts'

interface AwsCredentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
  expiration?: Date
}

export type CredentialsSource = () => Promise<AwsCredentials>

const answerMs = 1_000

export interface CredentialsOptions {
  /** Of the token service, if one is called. */
  region: string
  /** How long a caller waits for credentials. */
  withinMs: number
}

/**
 * AWS credentials by the standard chain, in its order: `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, shared files
 * (`AWS_PROFILE`, `AWS_SHARED_CREDENTIALS_FILE`), web identity (`AWS_WEB_IDENTITY_TOKEN_FILE`), the endpoints of the
 * container (`AWS_CONTAINER_CREDENTIALS_…`) and of the instance.
 *
 * Credentials that expire are renewed in the background from 5 minutes before that, and stay in use until they expire.
 *
 * @throws {CredentialsError} if there are none, or their source does not answer in time.
 * @see https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html
 */
export function standardCredentials({ region, withinMs }: CredentialsOptions): CredentialsSource {
  const open = () => defaultProvider({ timeout: answerMs, maxRetries: 1, clientConfig: { region } })
  let chain = open()
  return async () => {
    const asked = chain
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      // The SDK only warns when an endpoint does not answer in time, and lets all callers wait for that one request.
      if (chain === asked) chain = open()
      reject(new Error(`their source did not answer in ${withinMs / 1_000} s`))
    }, withinMs)
    try {
      return await Promise.race([asked(), late])
    } catch (error) {
      throw new CredentialsError(`the standard chain found no AWS credentials: ${oneLine(messageOf(error))}`, { cause: error })
    } finally {
      clearTimeout(timer)
    }
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

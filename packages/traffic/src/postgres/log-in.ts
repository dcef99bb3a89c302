import { createHash } from 'node:crypto'
import { ClientMessages } from './client-messages.ts'
import type { DatabaseAddress } from './database-address.ts'
import { type Scram, startScram } from './scram.ts'
import type { ServerMessage } from './server-messages.ts'

/** Answers one message of the server during the login. Throws if the login cannot continue. */
export type Login = (message: ServerMessage) => Buffer | undefined

/** The server's requests for the password, and its own proof that it knows the password if the method has one. */
export function startLogin({ user, password }: Pick<DatabaseAddress, 'user' | 'password'>): Login {
  let scram: Scram | undefined
  let isVerified = true
  let isAdmitted = false
  const secret = () => {
    if (!password) throw new Error('the database asks for a password, and its URL has none')
    return password
  }
  const begun = () => {
    if (!scram) throw new Error('SCRAM: the server continues what was not begun')
    return scram
  }
  return (message) => {
    switch (message.name) {
      case 'authenticationCleartextPassword':
        return new ClientMessages().password(secret()).bytes
      case 'authenticationMD5Password':
        return new ClientMessages().password(hashMd5(user, secret(), message.salt)).bytes
      case 'authenticationSASL':
        if (!message.mechanisms.includes('SCRAM-SHA-256')) throw new Error('the database offers no SCRAM-SHA-256')
        scram = startScram(secret())
        isVerified = false
        return new ClientMessages().sasl('SCRAM-SHA-256', scram.first).bytes
      case 'authenticationSASLContinue':
        return new ClientMessages().saslResponse(begun().prove(message.data)).bytes
      case 'authenticationSASLFinal':
        begun().verify(message.data)
        isVerified = true
        return undefined
      case 'authenticationOk':
        if (!isVerified) throw new Error('SCRAM: the server ends the exchange without its proof')
        isAdmitted = true
        return undefined
      case 'readyForQuery':
        // Otherwise the message would pass for the end of an exchange in which the server proved nothing.
        if (!isAdmitted) throw new Error('the database is ready before the login was complete')
        return undefined
      default:
        return undefined
    }
  }
}

/** Only for servers that still use it: PostgreSQL recommends SCRAM since version 10. */
function hashMd5(user: string, password: string, salt: Buffer): string {
  const inner = createHash('md5').update(`${password}${user}`).digest('hex')
  return `md5${createHash('md5').update(inner).update(salt).digest('hex')}`
}

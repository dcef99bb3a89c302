import { createHash } from 'node:crypto'
import { AuthenticationMD5Password, type BackendMessage } from 'pg-protocol/dist/messages.js'
import { ClientMessages } from './client-messages.ts'
import type { DatabaseAddress } from './database-address.ts'
import { type Scram, startScram } from './scram.ts'

/** Answers one message of the server during the login. Throws if the login cannot continue. */
export type Login = (message: BackendMessage) => Buffer | undefined

/** The server's requests for the password, and its own proof that it knows the password if the method has one. */
export function startLogin({ user, password }: Pick<DatabaseAddress, 'user' | 'password'>): Login {
  let scram: Scram | undefined
  let isVerified = true
  let isAdmitted = false
  const secret = () => {
    if (!password) throw new Error('the database asks for a password, and its URL has none')
    return password
  }
  const scramData = (message: BackendMessage) => {
    if (!scram) throw new Error('SCRAM: the server continues what was not begun')
    return { scram, data: 'data' in message ? String(message.data) : '' }
  }
  return (message) => {
    switch (message.name) {
      case 'authenticationCleartextPassword':
        return new ClientMessages().password(secret()).bytes
      case 'authenticationMD5Password':
        if (!(message instanceof AuthenticationMD5Password))
          throw new Error('the database asks for an MD5 password without a salt')
        return new ClientMessages().password(hashMd5(user, secret(), message.salt)).bytes
      case 'authenticationSASL': {
        const mechanisms: unknown = 'mechanisms' in message ? message.mechanisms : []
        if (!Array.isArray(mechanisms) || !mechanisms.includes('SCRAM-SHA-256'))
          throw new Error('the database offers no SCRAM-SHA-256')
        scram = startScram(secret())
        isVerified = false
        return new ClientMessages().sasl('SCRAM-SHA-256', scram.first).bytes
      }
      case 'authenticationSASLContinue': {
        const { scram, data } = scramData(message)
        return new ClientMessages().saslResponse(scram.prove(data)).bytes
      }
      case 'authenticationSASLFinal': {
        const { scram, data } = scramData(message)
        scram.verify(data)
        isVerified = true
        return undefined
      }
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

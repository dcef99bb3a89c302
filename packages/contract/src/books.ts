import { Type } from './type.ts'
import { operation } from './operation.ts'
import { analysts, developers } from './roles.ts'
import { closed, credential, credits, nullable, oneOf } from './schemas.ts'

const day = { day: Type.Optional(Type.String({ format: 'date', description: 'UTC. Default: the last day with a root.' })) }
const hex = (description: string) => Type.String({ description: `64 hexadecimal digits: ${description}` })

const proof = Type.Object({
  account: Type.String({ description: 'The name of the account in the books.' }),
  balance: credits({ description: 'What it held.' }),
  salt: hex('what hides the account from those whose proofs show this leaf.'),
  path: Type.Array(
    Type.Object({
      side: oneOf(['left', 'right'], { description: 'On which side of the path this node is.' }),
      sum: credits({ description: 'What the accounts below this node hold.' }),
      hash: hex('the hash of this node.'),
    }),
    { description: 'The nodes beside the path, from the leaf up to the root.' },
  ),
})

const books = Type.Object(
  {
    day: Type.String({ description: 'The books at the beginning of this day (UTC), or soon after.' }),
    accounts: Type.Integer({ minimum: 0, description: 'How many accounts held credits.' }),
    total: credits({ description: 'The credits in circulation: the sum of all balances.' }),
    root: hex('the hash of the root.'),
    log_proof: Type.String({ description: 'The address of the inclusion proof in the transparency log.' }),
  },
  { description: 'null: there is no root of this day.' },
)

const answers = {
  200: {
    description: 'The root and the proofs.',
    data: Type.Object({
      books: nullable(books),
      proofs: Type.Array(proof, {
        description: 'One for each of the accounts that held credits on this day; none for a day more than a week ago.',
      }),
    }),
  },
} as const

const example = {
  books: {
    day: '2026-11-20',
    accounts: 2,
    total: 120,
    root: '3f0a4c6d5a1e8f2b7c9d0e1f2a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d',
    log_proof: 'https://api.atrium.example/log/proof/5bc91f4e8d40eb79adb4b9a4ee79b2b4a3d24a3b4cf2c3b7c33efd7b5b3fd9a1',
  },
  proofs: [
    {
      account: 'ten_4fRzK0vXcB1mQwErTy7uPa/issuer',
      balance: 100,
      salt: '9b8a7c6d5e4f30213243546576879809a1b2c3d4e5f60718293a4b5c6d7e8f90',
      path: [{ side: 'right' as const, sum: 20, hash: '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff' }],
    },
  ],
}

const how =
  'Once a day, all balances become the leaves of a Merkle tree of sums, whose root is in the transparency log with the ' +
  'credits in circulation. A proof shows that a balance is part of that total. The hash of a leaf is SHA-256 of a zero ' +
  'byte, the salt, the balance in 64 bits (most significant first) and the name of the account. The hash of a node is ' +
  'SHA-256 of the byte 1 and, for its left and then its right child, the sum in 64 bits and the hash. No sum is negative. '

export const bookOperations = {
  proveBalances: operation({
    id: 'proveBalances',
    kind: 'read',
    method: 'GET',
    path: '/books/proof',
    status: 'live',
    tag: 'Credits',
    summary: 'Prove that the balances are in the books',
    description: `${how}The accounts are the prefunded balance of the tenant, what is held from it, and its earnings.`,
    caller: 'secret',
    roles: analysts,
    query: closed(day),
    answers,
    example: { data: example },
  }),
  lookUpBalanceProofs: operation({
    id: 'lookUpBalanceProofs',
    kind: 'read',
    method: 'POST',
    path: '/books/proof/lookup',
    status: 'live',
    tag: 'Credits',
    summary: 'Prove that a wallet is in the books',
    description:
      `${how}The accounts are the wallet or coupon and what is held from it. The code is sent in the body, never in a ` +
      'URL. A code that never existed has no proofs.',
    caller: 'publishable',
    roles: developers,
    body: closed({ wallet_code: credential('A wallet code (wlt_…) or coupon (cpn_…).'), ...day }),
    answers,
    example: { body: { wallet_code: 'wlt_…' }, data: example },
  }),
}

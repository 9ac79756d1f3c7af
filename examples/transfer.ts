/**
 * Moves money between accounts in transactions: each is done as a whole or not at all, and none sees another one half
 * done.
 *
 * Run it with `node --import tsx examples/transfer.ts`.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from 'petaldb'

interface Account {
  readonly _id: string
  readonly balance: number
}

const directory = await mkdtemp(join(tmpdir(), 'petaldb-example-'))
const db = await open(join(directory, 'bank.db'))
const accounts = db.collection<Account>('accounts')
await accounts.insertMany([
  { _id: 'Ann', balance: 100 },
  { _id: 'Bob', balance: 20 },
  { _id: 'Cleo', balance: 0 }
])

function transfer(from: string, to: string, amount: number): Promise<void> {
  return db.withTransaction(async (tx) => {
    const accounts = tx.collection<Account>('accounts')
    const enough = { _id: from, balance: { $gte: amount } }
    const { modifiedCount } = await accounts.updateOne(enough, { $inc: { balance: -amount } })
    if (modifiedCount === 0) throw new Error(`${from} has less than ${amount}`)
    const { matchedCount } = await accounts.updateOne({ _id: to }, { $inc: { balance: amount } })
    // What was taken from the first account is back when this is thrown.
    if (matchedCount === 0) throw new Error(`${to} has no account`)
    await tx.collection('transfers').insertOne({ from, to, amount })
  })
}

const wanted = [
  ['Ann', 'Bob', 70],
  ['Bob', 'Cleo', 90],
  ['Ann', 'Cleo', 50],
  ['Cleo', 'Dan', 10]
] as const
for (const [from, to, amount] of wanted) {
  await transfer(from, to, amount).then(
    () => console.log(`${amount} from ${from} to ${to}`),
    (error: Error) => console.log(`refused: ${error.message}`)
  )
}

// At the same time: they run one after the other, so nothing is lost.
await Promise.all(Array.from({ length: 100 }, () => transfer('Cleo', 'Ann', 0.5)))

for await (const { _id, balance } of accounts.find().sort({ _id: 1 })) console.log(_id, balance)
console.log(await db.collection('transfers').countDocuments(), 'transfers')

await db.close()
await rm(directory, { recursive: true })

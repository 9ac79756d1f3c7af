/**
 * Follows changes: keeps the number of tweets of each language up to date without ever recounting.
 *
 * Run it with `node --import tsx examples/watch.ts`.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from 'petaldb'

interface Tweet {
  readonly _id: number
  readonly lang: string
  readonly text: string
}

const directory = await mkdtemp(join(tmpdir(), 'petaldb-example-'))
const db = await open<Tweet>(join(directory, 'tweets.db'))
await db.insertMany([
  { _id: 1, lang: 'en', text: 'Petals unfold' },
  { _id: 2, lang: 'de', text: 'Blüten öffnen sich' }
])

// Watch first, then read: the stream reports what the read does not see. The language is stored per tweet, so a change
// that the read has already seen does no harm.
const changes = db.watch([], { fullDocument: 'updateLookup' })
const languages = new Map<unknown, string>()
for await (const { _id, lang } of db.find()) languages.set(_id, lang)

const following = (async () => {
  for await (const change of changes) {
    if (change.operationType === 'delete') languages.delete(change.documentKey._id)
    else if ('fullDocument' in change && change.fullDocument) {
      languages.set(change.documentKey._id, change.fullDocument.lang)
    }
    console.log(change.operationType, 'documentKey' in change ? change.documentKey._id : '')
  }
})()

await db.insertOne({ _id: 3, lang: 'en', text: 'Rain again' })
await db.updateOne({ _id: 2 }, { $set: { lang: 'nl' } })
await db.deleteOne({ _id: 1 })
await db.close()
await following

const counts: Record<string, number> = {}
for (const lang of languages.values()) counts[lang] = (counts[lang] ?? 0) + 1
console.log('tweets by language', JSON.stringify(counts))

await rm(directory, { recursive: true })

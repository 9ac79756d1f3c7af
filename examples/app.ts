/**
 * PetalDB in an application: open, insert, query, update, close.
 *
 * Run it with `node --import tsx examples/app.ts`.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open, PetalError } from 'petaldb'

const directory = await mkdtemp(join(tmpdir(), 'petaldb-example-'))

{
  await using db = await open(join(directory, 'tweets.db'))

  // Documents hold JSON, and more: dates, 64-bit integers, binary data. A missing _id is generated.
  await db.insertMany([
    { _id: 1, lang: 'en', text: 'Petals unfold', user: { name: 'ada', verified: true }, tags: ['bloom', 'spring'] },
    { _id: 2, lang: 'de', text: 'Blüten öffnen sich', user: { name: 'emmy', verified: false }, tags: ['bloom'] },
    { _id: 3, lang: 'en', text: 'Rain again', user: { name: 'grace', verified: false }, tags: [], at: new Date() }
  ])

  // Any combination of fields, without declaring an index: every pair of path and value is indexed.
  const question = { $and: [{ lang: 'en' }, { tags: 'bloom' }, { 'user.verified': { $ne: false } }] }
  for await (const tweet of db.find(question)) console.log('found', tweet.text)
  console.log('not in English:', await db.countDocuments({ lang: { $ne: 'en' } }))

  // What the query costs: the bounds that the index provides, and how many documents had to be examined.
  const { index } = await db.find(question).explain()
  console.log(`${index.bounds}: ${index.candidates} candidates, ${index.falsePositives} false`)

  await db.updateMany({ lang: 'en' }, { $inc: { views: 1 }, $addToSet: { tags: 'seen' } })
  const newest = await db.find({ tags: 'seen' }).sort({ _id: -1 }).limit(1).project({ text: 1, views: 1 }).toArray()
  console.log('newest seen', newest)

  try {
    await db.insertOne({ _id: 1, text: 'once more' })
  } catch (error) {
    if (!(error instanceof PetalError) || error.codeName !== 'DuplicateKey') throw error
    console.log('refused:', error.message)
  }

  // Collections are created by their first write.
  await db.collection('people').insertOne({ name: 'ada', born: 1815 })
  console.log(
    'collections:',
    db
      .listCollections()
      .map(({ name }) => name)
      .join(', ')
  )
}

await rm(directory, { recursive: true })

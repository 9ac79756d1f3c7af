/**
 * PetalDB in an application: open, insert, ask, change, close.
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

  // Documents are what JSON is, and more: dates, 64-bit integers, binary data. A missing _id is made up.
  await db.insertMany([
    { _id: 1, lang: 'en', text: 'Petals unfold', user: { name: 'ada', verified: true }, tags: ['bloom', 'spring'] },
    { _id: 2, lang: 'de', text: 'Blüten öffnen sich', user: { name: 'emmy', verified: false }, tags: ['bloom'] },
    { _id: 3, lang: 'en', text: 'Rain again', user: { name: 'grace', verified: false }, tags: [], at: new Date() }
  ])

  // Any combination of fields, none of them declared: every pair of path and value is indexed.
  const question = { $and: [{ lang: 'en' }, { tags: 'bloom' }, { 'user.verified': { $ne: false } }] }
  for await (const tweet of db.find(question)) console.log('found', tweet.text)
  console.log('not in English:', await db.countDocuments({ lang: { $ne: 'en' } }))

  // What it takes to answer: the bounds that the index gives, and how many documents had to be looked at.
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

  // Collections are made by their first write.
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

/** What change streams report on every store and with every kind of ids: one shared specification. */
import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ChangeEvent, ChangeStream, Database } from '../../src/index.ts'
import { rejects } from './scratch.ts'

type OpenEmpty = () => Promise<Database>

/** The events that are available at once. */
export async function eventsOf(stream: ChangeStream<object>): Promise<ChangeEvent[]> {
  const events: ChangeEvent[] = []
  for (let event = await stream.tryNext(); event !== null; event = await stream.tryNext()) {
    events.push(event as ChangeEvent)
  }
  return events
}

/** The contents of an event apart from its time and collection. */
export function toldBy(event: ChangeEvent): object {
  const { _id, clusterTime, wallTime, ...told } = event
  if ('ns' in told) {
    const { ns, ...rest } = told
    assert.equal(ns, { coll: 'default' })
    return rest
  }
  return told
}

export const lines = (...documents: object[]) => [
  Buffer.from(documents.map((document) => `${JSON.stringify(document)}\n`).join(''))
]

export function watchCases(test: Test, name: string, openEmpty: OpenEmpty): void {
  const claim = (title: string, run: (db: Database) => Promise<void>): void =>
    test(`${name}: ${title}`, async () => {
      const db = await openEmpty()
      try {
        await run(db)
      } finally {
        await db.close()
      }
    })

  claim('each kind of insert is reported once, in the order of the documents', async (db) => {
    await using stream = db.watch()
    await db.insertOne({ _id: 1, by: 'insertOne' })
    await db.insertMany([
      { _id: 2, by: 'insertMany' },
      { _id: 3, by: 'insertMany' }
    ])
    await db.importLines(lines({ _id: 4, by: 'importLines' }, { by: 'importLines', _id: 5 }))
    await db.updateOne({ _id: 6 }, { $set: { by: 'upsert' } }, { upsert: true })
    await db.findOneAndReplace({ _id: 7 }, { by: 'findOneAndReplace' }, { upsert: true })
    await db.bulkWrite([{ insertOne: { document: { _id: 8, by: 'bulkWrite' } } }])
    const events = await eventsOf(stream)
    const stored = await db.find({}, { sort: { _id: 1 } }).toArray()
    assert.equal(
      events.map(toldBy),
      stored.map((document) => ({
        operationType: 'insert',
        documentKey: { _id: document._id },
        fullDocument: document
      }))
    )
    assert.is(events.length, 8)
  })

  claim('an update reports its changes, a replacement the new document, a deletion the key', async (db) => {
    await db.insertMany([
      { _id: 1, n: 1, list: [1, 2, 3], user: { name: 'a', age: 1 } },
      { _id: 2, n: 1 },
      { _id: 3, n: 1 }
    ])
    await using stream = db.watch()
    await db.updateOne({ _id: 1 }, { $set: { 'user.age': 2 }, $pop: { list: 1 }, $unset: { n: 1 } })
    await db.updateMany({ n: 1 }, { $inc: { n: 1 } })
    await db.findOneAndUpdate({ _id: 2 }, { $set: { n: 5 } })
    await db.replaceOne({ _id: 2 }, { other: true })
    await db.findOneAndReplace({ _id: 3 }, { n: 9 })
    await db.findOneAndDelete({ _id: 1 })
    await db.deleteOne({ _id: 2 })
    await db.deleteMany({})
    const updated = (id: number, updatedFields: object) => ({
      operationType: 'update',
      documentKey: { _id: id },
      updateDescription: { updatedFields, removedFields: [], truncatedArrays: [] }
    })
    const told = (await eventsOf(stream)).map(toldBy)
    // With computed ids, a collection has an order of its own.
    told.splice(1, 2, ...told.slice(1, 3).sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))))
    assert.equal(told, [
      {
        operationType: 'update',
        documentKey: { _id: 1 },
        updateDescription: {
          updatedFields: { 'user.age': 2 },
          removedFields: ['n'],
          truncatedArrays: [{ field: 'list', newSize: 2 }]
        }
      },
      updated(2, { n: 2 }),
      updated(3, { n: 2 }),
      updated(2, { n: 5 }),
      { operationType: 'replace', documentKey: { _id: 2 }, fullDocument: { _id: 2, other: true } },
      { operationType: 'replace', documentKey: { _id: 3 }, fullDocument: { _id: 3, n: 9 } },
      { operationType: 'delete', documentKey: { _id: 1 } },
      { operationType: 'delete', documentKey: { _id: 2 } },
      { operationType: 'delete', documentKey: { _id: 3 } }
    ])
  })

  claim('an update by a pipeline is reported by its changes, like any other', async (db) => {
    await db.insertMany([{ _id: 1, n: 1, list: [1, 2, 3], user: { name: 'a', age: 1 } }])
    await using stream = db.watch()
    await db.updateOne({ _id: 1 }, [
      { $set: { 'user.age': { $add: ['$user.age', 1] }, list: { $slice: ['$list', 2] } } },
      { $unset: 'n' }
    ])
    await db.updateMany({}, [{ $set: { list: { $slice: ['$list', 2] } } }])
    await db.findOneAndUpdate({ _id: 1 }, [{ $replaceWith: '$user' }])
    await db.updateOne({ _id: 2, n: 1 }, [{ $set: { m: '$n' } }], { upsert: true })
    const updated = (updateDescription: object) => ({
      operationType: 'update',
      documentKey: { _id: 1 },
      updateDescription
    })
    assert.equal((await eventsOf(stream)).map(toldBy), [
      updated({
        updatedFields: { 'user.age': 2 },
        removedFields: ['n'],
        truncatedArrays: [{ field: 'list', newSize: 2 }]
      }),
      updated({ updatedFields: { name: 'a', age: 2 }, removedFields: ['list', 'user'], truncatedArrays: [] }),
      { operationType: 'insert', documentKey: { _id: 2 }, fullDocument: { _id: 2, n: 1, m: 1 } }
    ])
  })

  claim('documents after and before a change are reported on request', async (db) => {
    await db.insertMany([{ _id: 1, n: 0 }])
    const stream = db.watch([], { fullDocument: 'updateLookup', fullDocumentBeforeChange: 'required' })
    await db.updateOne({ _id: 1 }, { $inc: { n: 1 } })
    await db.updateOne({ _id: 1 }, { $inc: { n: 1 } })
    await db.replaceOne({ _id: 1 }, { r: 1 })
    await db.deleteOne({ _id: 1 })
    await db.insertOne({ _id: 2 })
    const told = (await eventsOf(stream)).map((event) => {
      const { fullDocument, fullDocumentBeforeChange } = event as unknown as Record<string, unknown>
      return [event.operationType, fullDocumentBeforeChange, fullDocument]
    })
    assert.equal(told, [
      ['update', { _id: 1, n: 0 }, { _id: 1, n: 1 }],
      ['update', { _id: 1, n: 1 }, { _id: 1, n: 2 }],
      ['replace', { _id: 1, n: 2 }, { _id: 1, r: 1 }],
      ['delete', { _id: 1, r: 1 }, undefined],
      ['insert', undefined, { _id: 2 }]
    ])
    await stream.close()
  })

  claim('refused writes and writes without effect are not reported', async (db) => {
    await db.insertMany([{ _id: 1, n: 1 }])
    await using stream = db.watch()
    await rejects(db.insertOne({ _id: 1 }), 'DuplicateKey')
    await rejects(db.insertMany([{ _id: 2 }, { _id: 1 }, { _id: 3 }]), 'DuplicateKey')
    await rejects(db.updateOne({ _id: 1 }, { $set: { _id: 2 } }), 'ImmutableField')
    await db.updateOne({ _id: 1 }, { $set: { n: 1 } })
    await db.replaceOne({ _id: 1 }, { n: 1 })
    await db.deleteMany({ n: 2 })
    await db.updateOne({ n: 2 }, { $set: { n: 3 } })
    await db.importLines(lines({ _id: 1 }))
    assert.equal((await eventsOf(stream)).map(toldBy), [
      { operationType: 'insert', documentKey: { _id: 2 }, fullDocument: { _id: 2 } }
    ])
  })

  claim('every stream reports all changes after its creation, and none before', async (db) => {
    await db.insertOne({ _id: 0 })
    await using first = db.watch()
    await db.insertOne({ _id: 1 })
    await using second = db.watch()
    await using others = db.collection('other').watch()
    await Promise.all(Array.from({ length: 20 }, (_, i) => db.insertOne({ _id: 2 + i })))
    const ids = (events: ChangeEvent[]) =>
      events.map((event) => (event.operationType === 'insert' ? event.documentKey._id : undefined))
    const expected = Array.from({ length: 21 }, (_, i) => i + 1)
    assert.equal(ids(await eventsOf(first)), expected)
    assert.equal(ids(await eventsOf(second)), expected.slice(1))
    assert.equal(await eventsOf(others), [])
  })

  claim('changes of several batches are reported completely and in order', async (db) => {
    await using stream = db.watch()
    const all = Array.from({ length: 1200 }, (_, i) => ({ _id: i, n: i % 3 }))
    await db.insertMany(all)
    await db.updateMany({}, { $inc: { n: 1 } })
    await db.deleteMany({})
    const events = await eventsOf(stream)
    const told = events.map((event) => ('documentKey' in event ? event.documentKey._id : undefined))
    assert.is(events.length, 3600)
    for (const [i, type] of (['insert', 'update', 'delete'] as const).entries()) {
      const part = events.slice(i * 1200, (i + 1) * 1200)
      assert.ok(part.every(({ operationType }) => operationType === type))
    }
    const inOrder = told.slice(0, 1200).every((id, i) => id === i)
    assert.ok(inOrder)
    assert.is(new Set(told.slice(1200, 2400)).size, 1200)
    assert.is(new Set(told.slice(2400)).size, 1200)
    const tokens = events.map(({ _id }) => _id._data)
    assert.equal(tokens, [...new Set(tokens)].sort())
  })

  claim('watching first and then reading misses nothing during concurrent writes', async (db) => {
    const streams: ChangeStream[] = []
    const states: Map<unknown, unknown>[] = []
    let isWriting = true
    const write = async (from: number): Promise<void> => {
      for (let i = 0; i < 10; i++) {
        await db.insertMany(Array.from({ length: 30 }, (_, j) => ({ _id: from + i * 30 + j, n: 0 })))
        await db.updateMany({ _id: { $gte: from + i * 30, $lt: from + i * 30 + 20 } }, { $set: { n: i } })
        await db.deleteMany({ _id: { $gte: from + i * 30 + 15, $lt: from + i * 30 + 25 } })
      }
    }
    const reading = (async () => {
      while (isWriting) {
        if (streams.length < 12) {
          streams.push(db.watch([], { fullDocument: 'updateLookup' }))
          const found = await db.find().toArray()
          states.push(new Map(found.map((document) => [document._id, document.n])))
        }
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    })()
    await Promise.all([write(0), write(10_000), write(20_000)])
    isWriting = false
    await reading
    const final = new Map((await db.find().toArray()).map((document) => [document._id, document.n]))
    assert.ok(streams.length > 2)
    for (const [i, stream] of streams.entries()) {
      const state = states[i]!
      for (const event of await eventsOf(stream)) {
        if (event.operationType === 'delete') state.delete(event.documentKey._id)
        else if ('fullDocument' in event) state.set(event.documentKey._id, event.fullDocument?.n)
      }
      assert.equal([...state].sort(byId), [...final].sort(byId), `stream ${i}`)
      await stream.close()
    }
  })

  claim('dropping the collection is reported and ends the stream', async (db) => {
    const stream = db.watch()
    const deletions = db.watch([{ $match: { operationType: 'delete' } }])
    await db.insertOne({ _id: 1 })
    await db.dropCollection('default')
    await db.insertOne({ _id: 2 })
    const seen: unknown[] = []
    for await (const event of stream) seen.push(toldBy(event))
    assert.equal(seen.slice(1), [{ operationType: 'drop' }, { operationType: 'invalidate' }])
    assert.ok(stream.closed)
    await rejects(stream.next(), 'CursorNotFound')
    for await (const event of deletions) assert.unreachable(JSON.stringify(event))
    await using again = db.watch()
    await db.insertOne({ _id: 3 })
    assert.is((await eventsOf(again)).length, 1)
  })
}

function byId([a]: [unknown, unknown], [b]: [unknown, unknown]): number {
  return Number(a) - Number(b)
}

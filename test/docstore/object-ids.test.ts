/** ObjectIds of other versions, with their own toJSON(), or only claiming to be one; Binary values of old versions. */
import { Binary, ObjectId } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Document, open } from '../../src/index.ts'
import { rejects } from './scratch.ts'

const digits = '00112233445566778899aabb'

/** As in bson before 4.0: twelve characters for the bytes. */
class Old {
  readonly _bsontype = 'ObjectId'
  readonly id = Buffer.from(digits, 'hex').toString('latin1')
  toHexString(): string {
    return digits
  }
}

/** Returns its digits in capitals. */
class Loud extends Old {
  override toHexString(): string {
    return digits.toUpperCase()
  }
}

class Claimed {
  readonly _bsontype = 'ObjectId'
}

const forms: Readonly<Record<string, (id: unknown) => Document>> = {
  'JSON holds': (_id) => ({ _id, a: 1 }),
  'JSON does not hold': (_id) => ({ _id, at: new Date(0) }),
  'has it inside': (id) => ({ _id: new ObjectId(digits), id })
}

test('an ObjectId inside an _id is stored by its digits', async () => {
  for (const id of [Object.assign(new ObjectId(digits), { toJSON: () => 'mine' }), new Old()]) {
    const db = await open('unused', { store: 'memory' })
    await db.insertOne({ _id: { id, n: 1 } })
    const expected = { _id: { id: new ObjectId(digits), n: 1 } }
    assert.equal(await db.get(expected._id), expected)
    assert.equal(await db.find({ '_id.id': id }).toArray(), [expected])
    await rejects(db.insertOne({ _id: { id: new Claimed(), n: 1 } }), 'BadValue')
    await db.close()
  }
})

for (const [name, make] of Object.entries(forms)) {
  test(`an ObjectId is stored by its digits, whatever its toJSON() returns: a document that ${name}`, async () => {
    for (const id of [Object.assign(new ObjectId(digits), { toJSON: () => 'mine' }), new Old(), new Loud()]) {
      const db = await open('unused', { store: 'memory' })
      await db.insertOne(make(id))
      const expected = make(new ObjectId(digits))
      assert.equal(await db.find({}).toArray(), [expected])
      assert.equal(await db.get(new ObjectId(digits)), expected)
      for (const key of Object.keys(expected).filter((each) => expected[each] instanceof ObjectId)) {
        assert.equal(await db.find({ [key]: id }).toArray(), [expected], `${key} is found by what was inserted`)
        assert.equal(await db.find({ [key]: { $in: [id, 1] } }, { hint: 'scan' }).toArray(), [expected])
      }
      assert.equal((await db.verify()).problems, [])
      await rejects(db.insertOne({ _id: new ObjectId(digits) }), 'DuplicateKey')
      await db.close()
    }
  })

  test(`a claimed ObjectId without valid digits is refused: a document that ${name}`, async () => {
    const db = await open('unused', { store: 'memory' })
    for (const toHexString of [undefined, () => 'zz', () => 5, () => digits.slice(1)]) {
      await rejects(db.insertOne(make(Object.assign(new Claimed(), { toHexString }))), 'BadValue')
    }
    assert.is(await db.countDocuments(), 0)
    await db.close()
  })
}

/** As in bson before 6.0: value() returns text unless bytes are requested. */
class OldBinary {
  readonly _bsontype = 'Binary'
  readonly sub_type: number
  readonly buffer: Uint8Array
  readonly position: number

  constructor(bytes: readonly number[], subType = 0) {
    this.sub_type = subType
    // With spare room.
    this.buffer = Uint8Array.from([...bytes, 0, 0, 0])
    this.position = bytes.length
  }

  value(asRaw = false): unknown {
    const bytes = this.buffer.subarray(0, this.position)
    return asRaw ? bytes : Buffer.from(bytes).toString('latin1')
  }
}

test('Binary values of bson before 6 are stored and found by their bytes', async () => {
  await using db = await open('unused', { store: 'memory' })
  const values = [[1, 2], [1, 3], [200, 201], []]
  await db.insertMany(values.map((bytes, i) => ({ _id: i, v: new OldBinary(bytes, i === 3 ? 4 : 0) })))
  await db.insertOne({ _id: new OldBinary([7]), deep: [{ v: new OldBinary([8]) }] })
  for (const [i, bytes] of values.entries()) {
    const subType = i === 3 ? 4 : 0
    for (const hint of ['scan', 'index']) {
      for (const v of [new OldBinary(bytes, subType), new Binary(Uint8Array.from(bytes), subType)]) {
        assert.equal(
          (await db.find({ v }, { hint }).toArray()).map(({ _id }) => _id),
          [i]
        )
      }
    }
  }
  const id = new Binary(Uint8Array.of(7))
  assert.equal((await db.get(id))?.deep, [{ v: new Binary(Uint8Array.of(8)) }])
  await rejects(db.insertOne({ _id: id }), 'DuplicateKey')
})

test.run()

/** Ways to read a store, each compared with the model. */
import type { AbstractSnapshot } from 'abstract-level'
import * as assert from 'uvu/assert'
import type { LsmLevel } from '../../src/lsm/index.ts'
import { createExtractor } from '../../src/lsm/value/json-extractor.ts'
import { isInRange } from '../../src/lsm/value/zone-maps.ts'
import { colors, type LookupSpec, type Operation, prefixes, type ScanSpec, type Space } from './model-operations.ts'
import { type Content, entriesIn, type ModelEntry, ModelIterator } from './model-state.ts'
import type { Subject } from './model-subject.ts'

/** A snapshot, or undefined for the present, and its expected content. */
export interface Moment {
  readonly snapshot: AbstractSnapshot | undefined
  readonly content: Content
}

export function inPresent(content: Content): Moment {
  return { snapshot: undefined, content }
}

/** Options for abstract-level, which refuses `snapshot: undefined`. */
export function scanOptions({ range, reverse, limit }: ScanSpec, { snapshot }: Moment) {
  return { ...range, reverse, limit, ...withSnapshot(snapshot) }
}

function withSnapshot(snapshot: AbstractSnapshot | undefined) {
  return snapshot === undefined ? {} : { snapshot }
}

export async function checkRead(
  subject: Subject,
  { space, keys, form }: Extract<Operation, { kind: 'read' }>,
  { snapshot, content }: Moment
): Promise<void> {
  const level = subject.space(space)
  const options = withSnapshot(snapshot)
  const expected = keys.map((key) => content.get(prefixes[space] + key)?.value)
  const first = keys[0]!
  switch (form) {
    case 'get':
      assert.is(await level.get(first, options), expected[0])
      break
    case 'getSync':
      assert.is(level.getSync(first, options), expected[0])
      break
    case 'getMany':
      assert.equal(await level.getMany([...keys], options), expected)
      break
    case 'has':
      assert.is(await level.has(first, options), expected[0] !== undefined)
      break
    case 'hasMany':
      assert.equal(
        await level.hasMany([...keys], options),
        expected.map((value) => value !== undefined)
      )
      break
    case 'readInto': {
      const target = Buffer.alloc(4096)
      const size = subject.db.readInto(prefixes[space] + first, target, options)
      assert.is(size === undefined ? undefined : target.toString('utf8', 0, size), expected[0])
      break
    }
    case 'readText':
      assert.is(subject.db.readText(Buffer.from(prefixes[space] + first, 'hex'), snapshot), expected[0])
      break
    default:
      form satisfies never
  }
}

export async function checkScan(
  subject: Subject,
  { scan, form, fillCache }: Extract<Operation, { kind: 'scan' }>,
  moment: Moment
): Promise<void> {
  const level = subject.space(scan.space)
  const options = { ...scanOptions(scan, moment), fillCache }
  const { range, reverse, limit } = scan
  const expected = new ModelIterator(moment.content, prefixes[scan.space], range, reverse, limit).take(2 ** 30)
  switch (form) {
    case 'next': {
      const found: [string, string][] = []
      for await (const entry of level.iterator(options)) found.push(entry)
      assert.equal(found, expected.map(asPair))
      break
    }
    case 'all':
      assert.equal(await level.iterator(options).all(), expected.map(asPair))
      break
    case 'keys':
      assert.equal(
        await level.keys(options).all(),
        expected.map(({ key }) => key)
      )
      break
    case 'values':
      assert.equal(
        await level.values(options).all(),
        expected.map(({ value }) => value)
      )
      break
    default:
      form satisfies never
  }
}

/** Finds the values of any field by parsing entries. */
const oracle = createExtractor({ fields: [], zones: [] })

/** A lookup must return what a full scan finds, newest first, and the key ranges must contain all of it. */
export async function checkLookup(
  db: LsmLevel<string, string>,
  { question, space, limit, reverse }: LookupSpec,
  { snapshot, content }: Moment
): Promise<void> {
  const prefix = Buffer.from(prefixes[space], 'hex')
  const options = { prefix, limit, reverse, snapshot }
  const all = entriesIn(content, '', {}).filter(({ key }) => key.startsWith(prefixes[space]))
  const expected = all
    .filter((entry) => answers(question, entry))
    .sort((a, b) => (reverse ? a.order - b.order : b.order - a.order))
  const found: [string, string][] = []
  const entries =
    question.kind === 'range'
      ? db.rangeLookup(question.field, question.low, question.high, options)
      : db.lookup(pairOf(question), options)
  for await (const entry of entries) found.push(entry)
  assert.equal(found, expected.slice(0, limit ?? expected.length).map(asPair), 'a lookup is a full scan')
  if (question.kind === 'range') return

  const { ranges } = await db.keyRanges([pairOf(question)], { prefix, snapshot })
  for (const { key } of expected) {
    const bytes = Buffer.from(key, 'hex')
    const isCovered = ranges.some(
      ({ smallest, largest }) => Buffer.compare(smallest, bytes) <= 0 && Buffer.compare(bytes, largest) <= 0
    )
    assert.ok(isCovered, `${key} is in a key range`)
  }
}

function answers(question: LookupSpec['question'], { key, value }: ModelEntry): boolean {
  const [keyBytes, valueBytes] = [Buffer.from(key, 'hex'), Buffer.from(value)]
  if (question.kind !== 'range') return oracle.matches(pairOf(question), keyBytes, valueBytes)
  return oracle.zoneValues(question.field, keyBytes, valueBytes).some((found) => isInRange(found, question))
}

function pairOf(question: Exclude<LookupSpec['question'], { kind: 'range' }>) {
  return question.kind === 'color' ? ['color', colors[question.color]] : ['mixed', question.value]
}

/** Checks all of a moment, in every space: in both directions, by point reads and by lookups; and runs verify(). */
export async function checkEverything(subject: Subject, moment: Moment): Promise<void> {
  const { db } = subject
  const options = withSnapshot(moment.snapshot)
  for (const space of [0, 1, 2] as const) {
    const expected = entriesIn(moment.content, prefixes[space], {})
    const level = subject.space(space)
    assert.equal(await level.iterator(options).all(), expected.map(asPair), 'forwards')
    assert.equal(await level.iterator({ ...options, reverse: true }).all(), expected.map(asPair).reverse(), 'backwards')
    const keys = expected.map(({ key }) => key)
    assert.equal(
      await level.getMany(keys, options),
      expected.map(({ value }) => value),
      'by key'
    )
  }
  const { problems } = await db.verify()
  assert.equal(problems, [], `verify: ${JSON.stringify(problems)}`)
  if (db.valueStats() === undefined) return
  for (const color of colors.keys()) {
    const lookup = { question: { kind: 'color', color }, space: 0 as Space, limit: undefined, reverse: false } as const
    await checkLookup(db, { ...lookup, snapshot: undefined }, moment)
  }
}

function asPair({ key, value }: ModelEntry): [string, string] {
  return [key, value]
}

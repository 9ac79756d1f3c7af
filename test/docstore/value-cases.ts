/** Collections and filters for tests of the values on their paths, and of pages. */
import { Decimal128, Long } from 'bson'
import fc from 'fast-check'
import { type Database, type Document, open } from '../../src/index.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { type adversarial, documents, filters } from '../support/arbitraries.ts'
import { scratchPath } from './scratch.ts'

/** Roughly how many paths of random documents are queried. */
const mostPaths = 16
/** Documents inserted into a collection, including those deleted again. */
export const count = 2500

/** Several segments, some documents deleted, the last segment open. */
export async function filled(documentAt: (i: number) => Document, options = {}): Promise<Database> {
  const db = await open(scratchPath(), { index: { segmentBits: 512 }, ...options })
  await db.insertMany(Array.from({ length: count }, (_, i) => ({ ...documentAt(i), _id: i })))
  await db.deleteMany({ _id: { $in: Array.from({ length: 60 }, (_, i) => 41 * i) } })
  return db
}

/** Random filters, without invalid ones. */
export function askableFilters(profile: typeof adversarial, numRuns: number, seed: number): Document[] {
  return fc.sample(filters(profile), { numRuns, seed }).filter((filter) => {
    try {
      compileFilter(filter)
      return true
    } catch {
      return false
    }
  })
}

/** Some of the paths that occur in documents. */
function pathsOf(many: readonly Document[]): string[] {
  const paths = new Set<string>()
  const walk = (value: unknown, path: string): void => {
    if (paths.size > mostPaths || typeof value !== 'object' || value === null) return
    for (const [key, child] of Object.entries(value)) {
      const below = path === '' ? key : `${path}.${key}`
      if (key === '' || below.startsWith('$')) continue
      paths.add(below)
      walk(child, below)
    }
  }
  for (const document of many) walk(document, '')
  return [...paths]
}

type Check = (db: Database, path: string, filter: Document) => Promise<void>

/** Any path of random documents, with random filters. */
export async function checkAnyPath(profile: typeof adversarial, seed: number, check: Check): Promise<void> {
  // Few different documents, so that values are frequent.
  const many = fc.sample(documents(profile), { numRuns: 120, seed })
  const db = await filled((i) => many[(i * i) % many.length]!)
  await db.index.rebuild()
  // Adds an open segment, and two that are not rebuilt.
  await db.insertMany(Array.from({ length: 700 }, (_, i) => ({ ...many[i % 9]!, _id: count + i })))
  const asked = [{}, ...askableFilters(profile, 6, seed)]
  for (const path of pathsOf(many)) for (const filter of asked) await check(db, path, filter)
  await db.close()
}

const kinds: readonly unknown[] = [
  0.1,
  Decimal128.fromString('0.1'),
  Long.fromString('9007199254740993'),
  2 ** 53,
  1,
  Long.ONE,
  -0,
  0,
  Number.NaN,
  null,
  'a',
  ['a', 'b'],
  [['c']],
  [],
  { b: 1 },
  new Date(0),
  /a/,
  true
]

/** Values that share a row, others that do not, several at a time, none, and paths without values. */
export async function checkKinds(check: Check): Promise<void> {
  const db = await filled((i) => ({
    v: kinds[i % kinds.length],
    ...(i % 7 > 0 && { 'w.x': i % 5 }),
    ...(i % 5 > 0 && { w: i % 6 === 0 ? [{ x: i % 11 }, { y: 'y' }] : i % 6 === 1 ? { y: 1 } : { x: i % 3 } }),
    u: i % 6 === 0 ? [{ x: i % 11 }, { x: 'y' }] : { x: i % 3 },
    rare: i % 601 === 0 ? `r${i}` : 'common',
    half: i % 2,
    late: i < 600 ? Decimal128.fromString('0.1') : 0.1
  }))
  await db.index.rebuild()
  const paths = [
    'v',
    'late',
    'v.b',
    'w.x',
    'w.z',
    'w',
    'w.0.x',
    'u.x',
    'u',
    'u.0.x',
    'rare',
    'nowhere',
    'nowhere.at.all',
    '_id'
  ]
  for (const path of paths) {
    for (const filter of [
      {},
      { v: 'a' },
      { rare: 'common' },
      // Half of the documents are certain matches, and one of the others is an uncertain one.
      { $or: [{ half: 0 }, { rare: 'r601' }] },
      { v: { $type: 'number' } },
      { w: { $exists: false } },
      { rare: /mon/ }
    ]) {
      await check(db, path, filter)
    }
  }
  await db.close()
}

/** With each kind of index besides a declared one, and with computed ids. */
export async function checkIndexes(check: Check): Promise<void> {
  for (const options of [{ index: 'none' }, { index: 'embedded' }, { ids: 'reversible' }, {}]) {
    const db = await filled((i) => ({ lang: `l${i % 20}`, n: i % 50 }), options)
    await db.createIndex({ n: 1 })
    for (const filter of [{}, { n: 7 }, { n: { $gte: 45 } }, { _id: { $in: [1, 2, 3] } }, { lang: 'l3' }]) {
      for (const path of ['lang', 'n', '_id']) await check(db, path, filter)
    }
    await db.close()
  }
}

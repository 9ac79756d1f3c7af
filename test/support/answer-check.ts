/**
 * Checks the central claim: on any documents and for any filter, a query through the index finds exactly what a scan
 * finds, in every state of the index.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, type Document, open } from '../../src/index.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { Random } from '../../src/workload/random.ts'
import { QueryGenerator } from './query-generator.ts'

export interface AnswerCheckOptions {
  readonly queries: number
  readonly seed: number
  /** Ordinals per segment; small ones are sealed early. */
  readonly segmentBits?: number
  readonly log?: (line: string) => void
}

export interface AnswerCheckResult {
  readonly documents: number
  readonly stages: readonly {
    readonly name: string
    readonly queries: number
    readonly hits: number
    readonly sealed: number
  }[]
}

/** Throws at the first wrong answer, with the filter and the seed in its message. */
export async function checkAnswers(
  source: readonly Document[],
  options: AnswerCheckOptions
): Promise<AnswerCheckResult> {
  const { seed, queries, log = () => {} } = options
  const random = new Random(seed)
  const model = new Map<string, Document>()
  const directory = await mkdtemp(join(tmpdir(), 'petaldb-answers-'))
  const index = { segmentBits: options.segmentBits ?? 65_536 }
  const stages: AnswerCheckResult['stages'][number][] = []
  let db = await open(join(directory, 'db'), { index })
  const check = async (name: string): Promise<void> => {
    const documents = [...model.values()]
    const generator = new QueryGenerator(documents, random)
    let hits = 0
    for (let i = 0; i < queries; i++)
      hits += await checkQuery(db, documents, generator, `${name}, seed ${seed}, query ${i}`)
    const sealed = (await db.index.stats()).parameters.filter(({ sealed }) => sealed).length
    stages.push({ name, queries, hits, sealed })
    log(`${name}: ${queries} queries, ${hits} hits, ${documents.length} documents, ${sealed} sealed segments`)
  }
  try {
    const half = Math.ceil(source.length / 2)
    await insert(db, source.slice(0, half), model)
    await check('half inserted')
    await insert(db, source.slice(half), model)
    await check('all inserted')
    await db.close()
    db = await open(join(directory, 'db'), { index })
    await check('reopened')
    await deleteAndUpdate(db, model, random)
    await check('after deletes and updates')
    await db.close()
    db = await open(join(directory, 'db'), { index })
    await check('reopened again')
  } finally {
    await db.close()
    await rm(directory, { recursive: true, force: true })
  }
  return { documents: source.length, stages }
}

async function checkQuery(
  db: Database,
  documents: readonly Document[],
  generator: QueryGenerator,
  where: string
): Promise<number> {
  const filter = generator.filter()
  const { matches } = compileFilter(filter)
  const expected = documents.filter(matches).map(idText).sort()
  const found = (await db.find(filter).toArray()).map(idText).sort()
  const count = await db.countDocuments(filter)
  if (count !== expected.length || !sameTexts(found, expected)) {
    const missing = expected.filter((id) => !found.includes(id)).slice(0, 5)
    const surplus = found.filter((id) => !expected.includes(id)).slice(0, 5)
    throw new Error(
      `wrong answer (${where}): found ${found.length}, counted ${count}, a scan finds ${expected.length}; ` +
        `missing ${missing.join(', ') || '–'}; surplus ${surplus.join(', ') || '–'}; filter ${describe(filter)}`
    )
  }
  return expected.length
}

async function insert(db: Database, documents: readonly Document[], model: Map<string, Document>): Promise<void> {
  await db.insertMany(documents)
  // The model holds documents as the store returns them: with `_id`s added and undefined fields removed.
  for (const document of documents) {
    const stored = await db.get(document._id)
    if (stored === null || stored === undefined) throw new Error(`${idText(document)} was inserted and is not there`)
    model.set(idText(document), stored)
  }
}

/** Deletes a tenth of the documents, replaces another with contents of others, and updates a third by operators. */
async function deleteAndUpdate(db: Database, model: Map<string, Document>, random: Random): Promise<void> {
  const documents = [...model.values()]
  for (const document of documents) {
    const _id = document._id
    const die = random.below(30)
    if (die < 3) {
      await db.deleteOne({ _id })
      model.delete(idText(document))
      continue
    }
    if (die < 6) await db.replaceOne({ _id }, { ...random.pick(documents), _id })
    else if (die < 9)
      await db.updateOne({ _id }, { $set: { touched: random.below(5), 'deep.list': [random.below(3), null] } })
    else continue
    const stored = await db.get(_id)
    if (stored === null || stored === undefined) throw new Error(`${idText(document)} was updated and is gone`)
    model.set(idText(document), stored)
  }
}

function idText({ _id }: Document): string {
  return typeof _id === 'object' ? String(_id) : JSON.stringify(_id)
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i])
}

function describe(filter: unknown): string {
  return JSON.stringify(filter, (_, value: unknown) => {
    if (value instanceof RegExp) return String(value)
    return typeof value === 'bigint' ? `${value}n` : value
  })
}

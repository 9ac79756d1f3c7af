/** Runs pipelines over given documents, and checks tables of malformed stages. */
import { inspect } from 'node:util'
import * as assert from 'uvu/assert'
import { type AggregationPipeline, type Document, open, PetalError } from '../../src/index.ts'

/** Results of a pipeline. Documents without an `_id` get one only while it runs. */
export async function over(documents: readonly Document[], ...pipeline: AggregationPipeline): Promise<Document[]> {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany(documents.map((document, i) => ({ _id: `added ${i}`, ...document })))
  const found = await db.aggregate(pipeline).toArray()
  return found.map((document) => {
    const { _id, ...rest } = document
    return String(_id).startsWith('added ') ? rest : document
  })
}

/** Compares the kinds of numbers and the order of keys, too. */
export function same(found: unknown, expected: unknown, message?: string): void {
  const shown = (value: unknown): string => inspect(value, { depth: 9, maxArrayLength: null })
  assert.is(shown(found), shown(expected), message)
}

/** Each stage is refused with its code and a matching message, whatever the documents are. */
export async function refusesStages(
  documents: readonly Document[],
  cases: readonly (readonly [stage: Document, codeName: string, message: RegExp])[]
): Promise<void> {
  for (const [stage, codeName, message] of cases) {
    const shown = inspect(stage, { depth: 9 })
    const error = await over(documents, { $match: {} }, stage).then(
      (found) => assert.unreachable(`${shown} gives ${inspect(found)}`),
      (reason: unknown) => reason
    )
    assert.instance(error, PetalError, `${shown}: ${String(error)}`)
    const { codeName: code, message: text } = error as PetalError
    assert.is(code, codeName, `${shown}: ${text}`)
    assert.match(text, message)
    assert.ok(text.startsWith(`${Object.keys(stage)[0]} (stage 1): `), text)
  }
}

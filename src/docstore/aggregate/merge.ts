/**
 * `$merge`: merges the results of a pipeline into a collection, slice by slice; merged slices stay, however the run
 * ends.
 */
import type { StagePlace } from '../../aggregate/errors.ts'
import { evaluationError, stageError } from '../../aggregate/errors.ts'
import type { Merge, WriteStage } from '../../aggregate/stage.ts'
import type { IndexDefinition } from '../indexes/definition.ts'
import { mergeDocuments } from '../write/merge-documents.ts'
import type { AggregationRun } from './run.ts'
import type { PipelineCollections } from './writing-run.ts'

export async function writeMerge(
  run: AggregationRun,
  { place, collection, merge }: WriteStage & { readonly kind: 'merge' },
  collections: PipelineCollections
): Promise<void> {
  assertUnique(collections.declared(collection), merge.on, place)
  for (let slice = await run.next(); slice !== undefined; slice = await run.next()) {
    const documents = slice
    try {
      await collections.write(collection, (target) => mergeDocuments(target, documents, merge, run.control))
    } catch (error) {
      throw evaluationError(place, error)
    }
  }
}

/** Requires a unique index, so that a document cannot match several. @throws PetalError BadValue */
function assertUnique(declared: readonly IndexDefinition[], on: Merge['on'], place: StagePlace): void {
  if (on.length === 1 && on[0] === '_id') return
  const isThere = declared.some(
    ({ unique, fields }) => unique && fields.length === on.length && fields.every(({ path }) => on.includes(path))
  )
  if (isThere) return
  const named = on.map((path) => `'${path}'`).join(' and ')
  throw stageError(
    'BadValue',
    place,
    `matching documents by ${named} needs a unique index on exactly ${on.length === 1 ? 'this field' : 'these fields'}`
  )
}

/**
 * `$merge`: merges the results of a pipeline into a collection, slice by slice; merged slices stay, however the run
 * ends.
 */
import type { StagePlace } from '../../aggregate/errors.ts'
import { evaluationError, stageError } from '../../aggregate/errors.ts'
import type { Merge, WriteStage } from '../../aggregate/stage.ts'
import type { IndexDefinition } from '../indexes/definition.ts'
import { mergeDocuments } from '../write/merge-documents.ts'
import { untilOver } from '../write/until-aborted.ts'
import type { AggregationRun } from './run.ts'
import type { PipelineCollections } from './writing-run.ts'

/** @param assertWanted throws if no more is to be merged */
export async function writeMerge(
  run: AggregationRun,
  { place, collection, merge }: WriteStage & { readonly kind: 'merge' },
  collections: PipelineCollections,
  assertWanted: () => void
): Promise<void> {
  const { control } = run
  assertUnique(collections.declared(collection), merge.on, place)
  for (let slice = await run.next(); slice !== undefined; slice = await run.next()) {
    const documents = slice
    try {
      let isWaiting = true
      const merged = collections.write(collection, (target) =>
        mergeDocuments(target, documents, { merge, control, assertWanted }, () => {
          isWaiting = false
        })
      )
      await untilOver(merged, control, () => isWaiting)
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

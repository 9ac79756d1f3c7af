/** `$out`: what a pipeline gives takes the place of all that a collection holds. */
import { evaluationError } from '../../aggregate/errors.ts'
import type { WriteStage } from '../../aggregate/stage.ts'
import type { OpenCollection } from '../open-collection.ts'
import type { AggregationRun } from './run.ts'
import type { PipelineCollections } from './writing-run.ts'

/** @param assertWanted throws where the collection is to stay as it is */
export function writeOut(
  run: AggregationRun,
  { place, collection }: WriteStage,
  collections: PipelineCollections,
  assertWanted: () => void
): Promise<void> {
  return collections.replace(collection, async (empty) => {
    const refused = await insertAll(run, empty)
    if (refused !== undefined) throw evaluationError(place, refused)
    assertWanted()
  })
}

/** One slice is prepared while the one before it is committed. @returns why a document is refused */
async function insertAll(run: AggregationRun, { writer }: OpenCollection): Promise<unknown> {
  let underWay = Promise.resolve()
  for (let slice = await run.next(); slice !== undefined; slice = await run.next()) {
    const { errors, done } = await writer.insert(slice, true)
    done.catch(ignore)
    await underWay
    underWay = done
    if (errors[0] !== undefined) return errors[0].error
  }
  await underWay
  return undefined
}

/** It is awaited with the next slice. */
function ignore(): void {}

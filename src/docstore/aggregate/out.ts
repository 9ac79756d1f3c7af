/** `$out`: replaces the contents of a collection by the results of a pipeline. */
import { evaluationError } from '../../aggregate/errors.ts'
import type { WriteStage } from '../../aggregate/stage.ts'
import type { OpenCollection } from '../open-collection.ts'
import { untilOver } from '../write/until-aborted.ts'
import type { AggregationRun } from './run.ts'
import type { PipelineCollections } from './writing-run.ts'

/** @param assertWanted throws if the collection is no longer to be replaced */
export async function writeOut(
  run: AggregationRun,
  { place, collection }: WriteStage,
  collections: PipelineCollections,
  assertWanted: () => void
): Promise<void> {
  // It waits for other writes twice: to open the collection that it replaces, and to close it.
  let isWaiting = true
  let onFilled = (): void => {}
  const filled = new Promise<void>((resolve) => {
    onFilled = resolve
  })
  const fill = async (empty: OpenCollection): Promise<void> => {
    isWaiting = false
    const refused = await insertAll(run, empty)
    if (refused !== undefined) throw evaluationError(place, refused)
    assertWanted()
    isWaiting = true
    onFilled()
  }
  const replaced = collections.replace(collection, fill, () => {
    assertWanted()
    isWaiting = false
  })
  await untilOver(Promise.race([filled, replaced]), run.control, () => isWaiting)
  await untilOver(replaced, run.control, () => isWaiting)
}

/** Prepares a slice while the previous one is being committed. @returns why a document was rejected, if one was */
async function insertAll(run: AggregationRun, { writer }: OpenCollection): Promise<unknown> {
  let inFlight = Promise.resolve()
  for (let slice = await run.next(); slice !== undefined; slice = await run.next()) {
    const { errors, done } = await writer.insert(slice, true)
    // Its error is handled where it is awaited, with the next slice.
    done.catch(() => {})
    await inFlight
    inFlight = done
    if (errors[0] !== undefined) return errors[0].error
  }
  await inFlight
  return undefined
}

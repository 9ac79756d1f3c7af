/** What stages work with while they run. */
import type { Stage } from '../../aggregate/stage.ts'
import type { Control } from '../read/control.ts'
import type { Documents } from './slices.ts'
import type { Sources } from './sources.ts'

export interface StageContext {
  readonly control: Control
  readonly sources: Sources
  /** Runs the stages of a pipeline inside of a stage. */
  run(source: Documents, stages: readonly Stage[], context: StageContext): Documents
  /** Told of the documents that a stage gives. */
  readonly tally?: (stage: Stage, documents: number) => void
}

/** The context that stages run in. */
import type { Stage } from '../../aggregate/stage.ts'
import type { Control } from '../read/control.ts'
import type { Documents } from './slices.ts'
import type { Sources } from './sources.ts'

export interface StageContext {
  readonly control: Control
  readonly sources: Sources
  /** Runs the stages of a nested pipeline. */
  run(source: Documents, stages: readonly Stage[], context: StageContext): Documents
  /** Called with the number of documents that a stage outputs. */
  readonly tally?: (stage: Stage, documents: number) => void
}

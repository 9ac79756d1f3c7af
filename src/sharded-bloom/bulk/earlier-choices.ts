/** The last choice of parameters of a thread that builds segments: it serves those that follow in the same index. */
import type { ChoiceKeeper, EarlierChoice } from '../tune/earlier-choice.ts'
import type { SegmentPlan } from './bulk-plan.ts'

export class EarlierChoices implements ChoiceKeeper {
  choice: EarlierChoice | undefined
  #plan = ''

  /** Of the index, if it was the last one; what another chose is forgotten. */
  of(plan: SegmentPlan): ChoiceKeeper {
    const text = JSON.stringify(plan)
    if (text !== this.#plan) this.choice = undefined
    this.#plan = text
    return this
  }
}

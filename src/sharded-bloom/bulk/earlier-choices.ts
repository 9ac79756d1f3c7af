/** The last choice of parameters of a thread that builds segments, reused for later segments of the same index. */
import type { ChoiceKeeper, EarlierChoice } from '../tune/earlier-choice.ts'
import type { SegmentPlan } from './bulk-plan.ts'

export class EarlierChoices implements ChoiceKeeper {
  choice: EarlierChoice | undefined
  #plan = ''

  /** Returns the keeper for an index; forgets the choice if the last one was for another index. */
  of(plan: SegmentPlan): ChoiceKeeper {
    const text = JSON.stringify(plan)
    if (text !== this.#plan) this.choice = undefined
    this.#plan = text
    return this
  }
}

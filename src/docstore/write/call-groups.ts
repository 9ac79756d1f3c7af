/** Groups calls that are waiting at the same time into one task, so that they share a commit. */

export interface WaitingCall<Call, Result> {
  readonly call: Call
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** Decides whether a call may join a group; called with every call of a group, in order. */
export type Admits<Call> = (call: Call) => boolean

interface Group<Call, Result> {
  readonly calls: WaitingCall<Call, Result>[]
  readonly admits: Admits<Call>
}

const maxCalls = 1000

export class CallGroups<Call, Result> {
  readonly #enqueue: (task: () => Promise<void>) => Promise<void>
  readonly #run: (calls: readonly WaitingCall<Call, Result>[]) => Promise<void>
  readonly #newRule: () => Admits<Call>
  /** The group that further calls may still join. */
  #open: Group<Call, Result> | undefined

  /**
   * @param enqueue runs a task once earlier ones have ended; must call end() of all groups
   * @param run settles the calls of a group; if it rejects, those not settled yet are rejected with its error
   * @param newRule returns what decides about the calls of a new group, the first of which is admitted in any case
   */
  constructor(
    enqueue: (task: () => Promise<void>) => Promise<void>,
    run: (calls: readonly WaitingCall<Call, Result>[]) => Promise<void>,
    newRule: () => Admits<Call> = () => () => true
  ) {
    this.#enqueue = enqueue
    this.#run = run
    this.#newRule = newRule
  }

  /** Resolves when the call's group has settled it. */
  call(call: Call): Promise<Result> {
    let group = this.#open
    if (group === undefined || group.calls.length >= maxCalls || !group.admits(call)) {
      group = this.#begin()
      group.admits(call)
      this.#open = group
    }
    const { calls } = group
    return new Promise((resolve, reject) => calls.push({ call, resolve, reject }))
  }

  /** Closes the current group: later calls must not join it. */
  end(): void {
    this.#open = undefined
  }

  #begin(): Group<Call, Result> {
    const group: Group<Call, Result> = { calls: [], admits: this.#newRule() }
    const leave = (): void => {
      if (this.#open === group) this.#open = undefined
    }
    const task = (): Promise<void> => {
      leave()
      return this.#run(group.calls)
    }
    this.#enqueue(task).catch((error: unknown) => {
      // The task may have failed before it started, during maintenance; without this, calls would join a group that is
      // never run. Rejecting a settled promise has no effect.
      leave()
      for (const { reject } of group.calls) reject(error)
    })
    return group
  }
}

/**
 * The open collections by name, and the tasks that open, drop, replace or rename them.
 *
 * Invariants:
 * 1. A collection is opened once, however many handles refer to it.
 * 2. One task at a time runs on a name; callers that ask for the collection meanwhile wait for the task's result.
 */
import { commitFailed, fromStore } from './errors.ts'
import type { OpenCollection } from './open-collection.ts'

/** Opens the collection of a name, or returns undefined if there is none. */
type Opener = (name: string) => Promise<OpenCollection | undefined>

export class OpenCollections {
  /** Promises for those that a task runs on. */
  readonly #byName = new Map<string, OpenCollection | Promise<OpenCollection | undefined>>()
  readonly #opener: Opener

  constructor(opener: Opener) {
    this.#opener = opener
  }

  get(name: string): OpenCollection | Promise<OpenCollection | undefined> | undefined {
    return this.#byName.get(name)
  }

  has(name: string): boolean {
    return this.#byName.has(name)
  }

  values(): Iterable<OpenCollection | Promise<OpenCollection | undefined>> {
    return this.#byName.values()
  }

  /** REQUIRES: the collection is not open, and no task runs on its name. */
  open(name: string, opener: Opener = this.#opener): Promise<OpenCollection | undefined> {
    const opening = opener(name).then(
      (collection) => {
        if (collection === undefined) this.#byName.delete(name)
        else this.#byName.set(name, collection)
        return collection
      },
      (error: unknown) => {
        this.#byName.delete(name)
        throw fromStore(error)
      }
    )
    this.#byName.set(name, opening)
    return opening
  }

  /**
   * Closes the collections, runs a task, and opens those that exist afterwards. If no task runs on the names, other
   * callers wait for this one from the call on; otherwise running tasks go first.
   */
  async whileClosed(names: readonly string[], task: () => Promise<void>): Promise<void> {
    for (let running = this.#running(names); running !== undefined; running = this.#running(names)) {
      // Another waiter handles its error.
      await running.catch(() => {})
    }
    const open = names.map((name) => this.#byName.get(name) as OpenCollection | undefined)
    const closedFor = async (): Promise<void> => {
      for (const collection of open) await collection?.close()
      await task()
    }
    const done = closedFor()
    const reopen = async (name: string): Promise<OpenCollection | undefined> => {
      try {
        await done
        return await this.#opener(name)
      } catch (error) {
        throw commitFailed(error)
      }
    }
    await Promise.all(names.map((name) => this.open(name, reopen)))
  }

  #running(names: readonly string[]): Promise<unknown> | undefined {
    return names.map((name) => this.#byName.get(name)).find((open) => open instanceof Promise)
  }
}

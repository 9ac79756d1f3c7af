/**
 * Handles Ctrl-C, and the end of the terminal, as a request: the first one asks the command to finish, the second one
 * ends the process.
 */
import { constants } from 'node:os'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export class Interrupt implements Disposable {
  readonly #controller = new AbortController()
  #status: number | undefined
  readonly #listener = (name: NodeJS.Signals): void => this.#receive(name)

  constructor() {
    for (const name of signals) process.on(name, this.#listener)
  }

  /** Fires on the first signal. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Exit status for a process ended by a signal, once one has arrived. */
  get status(): number | undefined {
    return this.#status
  }

  /**
   * Reports what was not created because of the signal, and returns the exit status. @throws the error if there was no
   * signal
   */
  reportNotCreated(notMade: string, error: unknown): number {
    if (this.#status === undefined) throw error
    process.stderr.write(`petaldb: interrupted; ${notMade} was not created\n`)
    return this.#status
  }

  [Symbol.dispose](): void {
    for (const name of signals) process.off(name, this.#listener)
  }

  #receive(name: NodeJS.Signals): void {
    const status = 128 + constants.signals[name]
    if (this.#status !== undefined) process.exit(status)
    this.#status = status
    this.#controller.abort()
  }
}

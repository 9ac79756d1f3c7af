/**
 * Ctrl-C as a request: the first one asks the command to come to an end, the second one ends the process.
 */
import { constants } from 'node:os'

const signals = ['SIGINT', 'SIGTERM'] as const

export class Interrupt implements Disposable {
  readonly #controller = new AbortController()
  #status: number | undefined
  readonly #listener = (name: NodeJS.Signals): void => this.#receive(name)

  constructor() {
    for (const name of signals) process.on(name, this.#listener)
  }

  /** Fires with the first signal. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Exit status of a process that a signal ended, once one has come. */
  get status(): number | undefined {
    return this.#status
  }

  /** Says what the signal has kept from being made; returns the exit status. @throws the error, where there was no signal */
  endedBefore(notMade: string, error: unknown): number {
    if (this.#status === undefined) throw error
    process.stderr.write(`petaldb: interrupted; ${notMade} was not made\n`)
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

/** A directory for a database, removed when the example ends, including by Ctrl-C. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export class TemporaryDirectory implements Disposable {
  readonly path: string
  readonly #isKept: boolean
  readonly #controller = new AbortController()
  readonly #listener = (): void => {
    process.exitCode = 130
    if (this.#controller.signal.aborted) {
      // A second Ctrl-C does not wait for the example to finish.
      this[Symbol.dispose]()
      process.exit()
    }
    this.#controller.abort()
  }

  /** @param path a directory to use and keep, instead of a temporary one */
  constructor(path?: string) {
    this.#isKept = path !== undefined
    this.path = path ?? mkdtempSync(join(tmpdir(), 'petaldb-example-'))
    process.on('SIGINT', this.#listener)
  }

  /** Fires on Ctrl-C. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  [Symbol.dispose](): void {
    process.off('SIGINT', this.#listener)
    if (!this.#isKept) rmSync(this.path, { recursive: true, force: true })
  }
}

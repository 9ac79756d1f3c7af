/** A working directory for the files of a command. */
import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FileError, UsageError } from './errors.ts'

export class WorkDirectory implements Disposable {
  readonly path: string
  readonly #isKept: boolean
  /** A second Ctrl-C ends the process without disposing of anything. */
  readonly #onExit = (): void => this.#remove()

  private constructor(path: string, isKept: boolean) {
    this.path = path
    this.#isKept = isKept
    if (!isKept) process.on('exit', this.#onExit)
  }

  /** Creates a directory that is removed on disposal, or when the process ends. */
  static temporary(): WorkDirectory {
    const base = tmpdir()
    try {
      return new WorkDirectory(mkdtempSync(join(base, 'petaldb-')), false)
    } catch (error) {
      throw new FileError('write', base, error)
    }
  }

  /** Uses a directory that is kept with its contents. @throws UsageError for a directory that is not empty */
  static async kept(path: string): Promise<WorkDirectory> {
    let entries: readonly string[]
    try {
      await mkdir(path, { recursive: true })
      entries = await readdir(path)
    } catch (error) {
      throw new FileError('write', path, error)
    }
    if (entries.length > 0) throw new UsageError(`${path} is not empty; --keep takes a new or empty directory`)
    return new WorkDirectory(path, true)
  }

  [Symbol.dispose](): void {
    process.off('exit', this.#onExit)
    this.#remove()
  }

  #remove(): void {
    // Threads of a store that was not closed may still be writing to it.
    if (!this.#isKept) rmSync(this.path, { recursive: true, force: true, maxRetries: 3 })
  }
}

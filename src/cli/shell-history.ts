/** Lines that were typed at a prompt, kept for the next one. */
import { readFileSync, writeFileSync } from 'node:fs'

const maxLines = 1000

export class LineHistory {
  readonly #path: string | undefined
  /** The last one first, as readline has them. */
  #lines: readonly string[] = []

  /** @param path undefined to keep none */
  constructor(path: string | undefined) {
    this.#path = path
  }

  /** Without a file, or one that cannot be read, there are none. */
  load(): string[] {
    if (this.#path === undefined) return []
    try {
      this.#lines = readFileSync(this.#path, 'utf8').split('\n').filter(Boolean).reverse().slice(0, maxLines)
    } catch {}
    return [...this.#lines]
  }

  note(lines: readonly string[]): void {
    this.#lines = [...lines]
  }

  /** Nothing is said where it cannot be written: it is a convenience. */
  save(): void {
    if (this.#path === undefined || this.#lines.length === 0) return
    try {
      writeFileSync(this.#path, `${[...this.#lines].reverse().slice(-maxLines).join('\n')}\n`, { mode: 0o600 })
    } catch {}
  }
}

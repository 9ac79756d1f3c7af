/** The lines typed at the prompt, saved for the next session. */
import { readFileSync, writeFileSync } from 'node:fs'

const maxLines = 1000

export class LineHistory {
  readonly #path: string | undefined
  /** Most recent first, as in readline. */
  #lines: readonly string[] = []

  /** @param path undefined to keep no history */
  constructor(path: string | undefined) {
    this.#path = path
  }

  /** Returns an empty history if there is no file, or it cannot be read. */
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

  /** Ignores errors: the history is only a convenience. */
  save(): void {
    if (this.#path === undefined || this.#lines.length === 0) return
    try {
      writeFileSync(this.#path, `${[...this.#lines].reverse().slice(-maxLines).join('\n')}\n`, { mode: 0o600 })
    } catch {}
  }
}

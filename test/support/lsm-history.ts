/**
 * The writes to a store, in order. A crash may take a suffix of them, but nothing durable: the content found must be
 * the state after some prefix of the writes.
 */

/** A put, or a delete when it has no value. */
export interface TestOperation {
  readonly key: string
  readonly value?: string
}

/** Numbers of writes, counted from 1; a prefix is named by the number of its last write. */
export interface PrefixBounds {
  /** The last write that must have survived. */
  readonly atLeast: number
  /** The last write that had been started. */
  readonly atMost: number
}

export class History {
  readonly #writes: (readonly TestOperation[])[] = []
  /** The content after each prefix, as text. */
  readonly #states: string[] = ['']
  /** Numbers of deletes of many keys, which a crash may leave partly done. */
  readonly #inPieces = new Set<number>()
  #content = new Map<string, string>()

  /** Number of writes started. */
  get length(): number {
    return this.#writes.length
  }

  /** Key to value, after all writes started. */
  get content(): ReadonlyMap<string, string> {
    return this.#content
  }

  /** Records the start of a write; returns its number. */
  begin(operations: readonly TestOperation[]): number {
    applyTo(this.#content, operations)
    this.#states.push(contentAsText(this.#content))
    return this.#writes.push(operations)
  }

  /** Records the start of deletes that are done one by one; returns the number that they share. */
  beginPieces(deletes: readonly { readonly key: string }[]): number {
    const write = this.begin(deletes)
    this.#inPieces.add(write)
    return write
  }

  /** Forgets the writes after this prefix. */
  cutTo(prefix: number): void {
    this.#writes.length = prefix
    this.#states.length = prefix + 1
    this.#content = new Map()
    for (const operations of this.#writes) applyTo(this.#content, operations)
  }

  /** Key to value. */
  contentAfter(prefix: number): ReadonlyMap<string, string> {
    const content = new Map<string, string>()
    for (const operations of this.#writes.slice(0, prefix)) applyTo(content, operations)
    return content
  }

  stateAfter(prefix: number): string {
    return this.#states[prefix] ?? 'never'
  }

  /**
   * The longest prefix within the bounds that has this content, or one that has it together with some of the deletes
   * after it that are done in pieces; undefined when there is none.
   */
  prefixOf(content: string, { atLeast, atMost }: PrefixBounds): number | undefined {
    const prefix = this.#states.slice(0, atMost + 1).lastIndexOf(content)
    if (prefix >= atLeast) return prefix
    return [...this.#inPieces]
      .map((write) => write - 1)
      .find((before) => before >= atLeast && before <= atMost && this.#isPartOf(content, before))
  }

  /** Whether the content is between the state after this prefix and that after the deletes that follow it. */
  #isPartOf(content: string, before: number): boolean {
    const lines = new Set(content.split('\n'))
    const most = new Set(this.stateAfter(before).split('\n'))
    const least = this.stateAfter(before + 1).split('\n')
    return least.every((line) => lines.has(line)) && [...lines].every((line) => most.has(line))
  }
}

function applyTo(content: Map<string, string>, operations: readonly TestOperation[]): void {
  for (const { key, value } of operations) {
    if (value === undefined) content.delete(key)
    else content.set(key, value)
  }
}

/** The same text for the same entries, in any order. */
export function contentAsText(entries: Iterable<readonly [string, string]>): string {
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1))
  return sorted.map(([key, value]) => `${key}=${value}\n`).join('')
}

/** As an operation of abstract-level's batch(). */
export function asLevelOperation({ key, value }: TestOperation) {
  return value === undefined ? ({ type: 'del', key } as const) : ({ type: 'put', key, value } as const)
}

/**
 * Counts what a pile of JSON contains: its paths, their types, and how often which value occurs.
 *
 * Bounded in memory: it tracks the first few thousand paths, and the first few thousand values of each.
 */
import type { Document } from '../../src/index.ts'

const maxPaths = 5000
const maxValuesPerPath = 5000
const maxValueCharacters = 200

export type Scalar = string | number | boolean | null

export interface PathFacts {
  readonly path: string
  /** Documents that have the path. */
  readonly documents: number
  /** Type names, most frequent first. */
  readonly types: readonly string[]
  /** Distinct values; `isTruncated` if there are more than were tracked. */
  readonly distinct: number
  readonly isTruncated: boolean
  /** Values with the number of documents they occur in, most frequent first. */
  readonly values: readonly (readonly [value: Scalar, documents: number])[]
}

/** False for a path through a key that a filter cannot name: one with a dot in it, or starting with a `$`. */
export function isAskable(path: string): boolean {
  return !path.includes('["')
}

function pathOf(parent: string, key: string): string {
  if (key.includes('.') || key.startsWith('$')) return `${parent}[${JSON.stringify(key)}]`
  return parent === '' ? key : `${parent}.${key}`
}

class PathTally {
  documents = 0
  lastDocument = -1
  readonly types = new Map<string, number>()
  readonly values = new Map<Scalar, { count: number; lastDocument: number }>()
  isTruncated = false
}

export class PathCensus {
  documents = 0
  readonly #paths = new Map<string, PathTally>()

  add(document: Document): void {
    for (const [key, value] of Object.entries(document)) this.#visit(pathOf('', key), value)
    this.documents++
  }

  /** Returns the paths, those of most documents first. */
  facts(): readonly PathFacts[] {
    return [...this.#paths]
      .map(([path, tally]) => ({
        path,
        documents: tally.documents,
        types: [...tally.types].sort((a, b) => b[1] - a[1]).map(([type]) => type),
        distinct: tally.values.size,
        isTruncated: tally.isTruncated,
        values: [...tally.values].map(([value, { count }]) => [value, count] as const).sort((a, b) => b[1] - a[1])
      }))
      .sort((a, b) => b.documents - a.documents)
  }

  /** Array positions are not part of a path, as in filters. */
  #visit(path: string, value: unknown): void {
    if (Array.isArray(value)) {
      this.#note(path, 'array', undefined)
      for (const element of value) this.#visit(path, element)
    } else if (typeof value === 'object' && value !== null) {
      this.#note(path, 'object', undefined)
      for (const [key, field] of Object.entries(value)) this.#visit(pathOf(path, key), field)
    } else {
      this.#note(path, value === null ? 'null' : typeof value, value as Scalar)
    }
  }

  #note(path: string, type: string, value: Scalar | undefined): void {
    let tally = this.#paths.get(path)
    if (tally === undefined) {
      if (this.#paths.size >= maxPaths) return
      tally = new PathTally()
      this.#paths.set(path, tally)
    }
    tally.types.set(type, (tally.types.get(type) ?? 0) + 1)
    if (tally.lastDocument !== this.documents) {
      tally.lastDocument = this.documents
      tally.documents++
    }
    if (value === undefined || (typeof value === 'string' && value.length > maxValueCharacters)) return
    const seen = tally.values.get(value)
    if (seen === undefined) {
      if (tally.values.size < maxValuesPerPath) tally.values.set(value, { count: 1, lastDocument: this.documents })
      else tally.isTruncated = true
    } else if (seen.lastDocument !== this.documents) {
      seen.lastDocument = this.documents
      seen.count++
    }
  }
}

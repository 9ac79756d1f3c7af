/** Walks of cursors, in any direction and from any seek, compared with the same walk over a sorted array. */
import fc from 'fast-check'
import * as assert from 'uvu/assert'
import type { Cursor } from '../../src/lsm/format/cursor.ts'
import { compareKeys, EntryKind } from '../../src/lsm/format/entry.ts'

export interface TestEntry {
  readonly key: Buffer
  readonly sequence: number
  readonly kind: EntryKind
  readonly value: Buffer
}

export type Step =
  | { readonly to: 'seekToFirst' | 'seekToLast' | 'next' | 'previous' }
  | { readonly to: 'seek' | 'seekBefore'; readonly target: Buffer }

/** Keys of few different bytes, many of them prefixes of each other. */
export const keys: fc.Arbitrary<Buffer> = fc.oneof(
  fc.array(fc.constantFrom(0, 97, 98, 255), { maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
  fc.nat(300).map((number) => Buffer.from(`key ${String(number).padStart(5, '0')}`)),
  fc.nat(3).map((number) => Buffer.from('long key '.repeat(9) + number))
)

/** Operations without their sequence numbers, which are to ascend. */
export const operations: fc.Arbitrary<readonly Omit<TestEntry, 'sequence'>[]> = fc.array(
  fc.record({ key: keys, isPut: fc.boolean(), value: fc.string({ maxLength: 5 }) }).map(({ key, isPut, value }) => ({
    key,
    kind: isPut ? EntryKind.put : EntryKind.tombstone,
    value: Buffer.from(isPut ? value : '')
  })),
  { maxLength: 40 }
)

export const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom<Step>({ to: 'seekToFirst' }, { to: 'seekToLast' }) },
    { weight: 8, arbitrary: fc.constantFrom<Step>({ to: 'next' }, { to: 'previous' }) },
    { weight: 2, arbitrary: fc.record({ to: fc.constantFrom('seek' as const, 'seekBefore' as const), target: keys }) }
  ),
  { maxLength: 40 }
)

/** By key, then newest first. */
export function compareEntries(a: TestEntry, b: TestEntry): number {
  return compareKeys(a.key, b.key) || b.sequence - a.sequence
}

/** A cursor over a sorted array, with keys somewhere within larger bytes. */
export class ArrayCursor implements Cursor {
  readonly #entries: readonly TestEntry[]
  #index = -1
  isClosed = false
  keyBytes: Uint8Array = Buffer.alloc(0)

  constructor(entries: readonly TestEntry[]) {
    this.#entries = entries
  }

  get isValid(): boolean {
    return this.#index >= 0 && this.#index < this.#entries.length
  }

  readonly keyStart = 3

  get keyEnd(): number {
    return 3 + this.#entry.key.length
  }

  get sequence(): number {
    return this.#entry.sequence
  }

  get kind(): EntryKind {
    return this.#entry.kind
  }

  get valueBytes(): Uint8Array {
    return this.#entry.value
  }

  readonly valueStart = 0

  get valueEnd(): number {
    return this.#entry.value.length
  }

  seekToFirst(): void {
    this.#moveTo(0)
  }

  seekToLast(): void {
    this.#moveTo(this.#entries.length - 1)
  }

  seek(target: Uint8Array): void {
    const index = this.#entries.findIndex((entry) => compareKeys(entry.key, target) >= 0)
    this.#moveTo(index < 0 ? this.#entries.length : index)
  }

  seekBefore(target: Uint8Array): void {
    this.#moveTo(this.#entries.findLastIndex((entry) => compareKeys(entry.key, target) < 0))
  }

  next(): void {
    assert.ok(this.isValid, 'next() of a cursor that is not valid')
    this.#moveTo(this.#index + 1)
  }

  previous(): void {
    assert.ok(this.isValid, 'previous() of a cursor that is not valid')
    this.#moveTo(this.#index - 1)
  }

  close(): void {
    this.isClosed = true
  }

  get #entry(): TestEntry {
    const entry = this.#entries[this.#index]
    if (entry === undefined) throw new Error('a field of a cursor that is not valid was read')
    return entry
  }

  #moveTo(index: number): void {
    assert.not.ok(this.isClosed, 'a closed cursor was moved')
    this.#index = index
    if (this.isValid) this.keyBytes = Buffer.concat([Buffer.from('>> '), this.#entry.key, Buffer.from(' <<')])
  }
}

/** The key at a cursor, valid until it moves. */
export function currentKey({ keyBytes, keyStart, keyEnd }: Cursor): Uint8Array {
  return keyBytes.subarray(keyStart, keyEnd)
}

/** Counts the calls of next() and previous(). */
export class CountingCursor extends ArrayCursor {
  steps = 0

  override next(): void {
    this.steps++
    super.next()
  }

  override previous(): void {
    this.steps++
    super.previous()
  }
}

/** Takes the same steps with both and compares their positions. Steps from an invalid position are skipped. */
export function assertSameWalk(cursor: Cursor, sorted: readonly TestEntry[], walk: readonly Step[]): void {
  const model = new ArrayCursor(sorted)
  for (const [number, step] of walk.entries()) {
    if (step.to === 'seek' || step.to === 'seekBefore') {
      cursor[step.to](step.target)
      model[step.to](step.target)
    } else if (step.to === 'seekToFirst' || step.to === 'seekToLast' || model.isValid) {
      cursor[step.to]()
      model[step.to]()
    }
    assert.equal(shown(cursor), shown(model), `after step ${number}, ${step.to}`)
  }
}

/** All entries, in order. */
export function allOf(cursor: Cursor): readonly TestEntry[] {
  const entries: TestEntry[] = []
  for (cursor.seekToFirst(); cursor.isValid; cursor.next()) entries.push(entryOf(cursor))
  return entries
}

export function entryOf(cursor: Cursor): TestEntry {
  return {
    key: Buffer.from(cursor.keyBytes.subarray(cursor.keyStart, cursor.keyEnd)),
    sequence: cursor.sequence,
    kind: cursor.kind,
    value: Buffer.from(cursor.valueBytes.subarray(cursor.valueStart, cursor.valueEnd))
  }
}

function shown(cursor: Cursor): string {
  if (!cursor.isValid) return 'nowhere'
  const { key, sequence, kind, value } = entryOf(cursor)
  return `${key.toString('latin1')} @${sequence} ${kind === EntryKind.put ? `= ${value}` : 'deleted'}`
}

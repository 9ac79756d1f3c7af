/**
 * Plays a history on a store and on the model, and compares the results of each operation.
 *
 * It also checks that reads called before a write do not see it, that snapshots and open iterators keep their state
 * through flushes, merges and clears, and that a crash loses only a suffix of the writes that were not durable.
 */
import type { AbstractIterator, AbstractSnapshot } from 'abstract-level'
import * as assert from 'uvu/assert'
import {
  checkEverything,
  checkLookup,
  checkRead,
  checkScan,
  inPresent,
  type Moment,
  scanOptions
} from './model-checks.ts'
import { colors, type Operation, prefixes, type ScanSpec, type WriteForm, type WriteSpec } from './model-operations.ts'
import { type Content, Model, ModelIterator } from './model-state.ts'
import { type Setting, Subject } from './model-subject.ts'

const maxOpen = 4

interface OpenIterator {
  readonly iterator: AbstractIterator<unknown, string, string>
  readonly model: ModelIterator
  readonly snapshot: AbstractSnapshot | undefined
}

/** @throws an error that names the operation at which store and model differ */
export async function play(setting: Setting, history: readonly Operation[]): Promise<void> {
  const player = new Player(setting)
  try {
    await player.open()
    for (const [i, operation] of history.entries()) {
      try {
        await player.play(operation)
      } catch (error) {
        throw new Error(`operation ${i}, ${JSON.stringify(operation)}: ${(error as Error).stack}`, { cause: error })
      }
    }
    await player.finish()
  } finally {
    await player.close()
  }
}

class Player {
  readonly #subject: Subject
  readonly #model = new Model()
  #snapshots: { readonly snapshot: AbstractSnapshot; readonly content: Content }[] = []
  #iterators: OpenIterator[] = []
  /** Number of the last document; makes each one unique. */
  #serial = 0

  constructor(setting: Setting) {
    this.#subject = new Subject(setting)
  }

  open(): Promise<void> {
    return this.#subject.open()
  }

  async close(): Promise<void> {
    await this.#subject.close()
    this.#subject.remove()
  }

  async play(operation: Operation): Promise<void> {
    const { db } = this.#subject
    switch (operation.kind) {
      case 'write':
        return this.#write(operation.batches, operation.form, operation.sync)
      case 'clear':
        return this.#clear(operation.scan)
      case 'read':
        return checkRead(this.#subject, operation, this.#momentOf(operation.snapshot))
      case 'scan':
        return checkScan(this.#subject, operation, this.#momentOf(operation.scan.snapshot))
      case 'openIterator':
        return this.#openIterator(operation.scan, operation.highWaterMarkBytes)
      case 'useIterator':
        return this.#useIterator(operation)
      case 'closeIterator':
        return this.#closeIterator(operation.iterator)
      case 'openSnapshot':
        if (this.#snapshots.length >= maxOpen) await this.#closeSnapshot(0)
        this.#snapshots.push({ snapshot: db.snapshot(), content: this.#model.content })
        return
      case 'closeSnapshot':
        return this.#closeSnapshot(operation.snapshot)
      case 'lookup':
        if (db.valueStats() === undefined) return
        return checkLookup(db, operation.lookup, this.#momentOf(operation.lookup.snapshot))
      case 'rebuildFilters':
        if (db.valueStats() !== undefined) await db.rebuildFilters()
        return
      case 'flush':
        await db.flush()
        this.#model.makeDurable()
        return
      case 'compact':
        await db.compactRange(operation.start, operation.end)
        this.#model.makeDurable()
        return
      case 'pause':
        return turns(operation.turns)
      case 'reopen':
        return this.#reopen(operation.variant)
      case 'crash':
        return this.#subject.canCrash ? this.#crash(operation) : this.#reopen(operation.variant)
      default:
        operation satisfies never
    }
  }

  /** Checks everything in each snapshot, in the present, and after reopening. */
  async finish(): Promise<void> {
    for (const { snapshot, content } of this.#snapshots) await checkEverything(this.#subject, { snapshot, content })
    await checkEverything(this.#subject, inPresent(this.#model.content))
    await this.#reopen(0)
    await checkEverything(this.#subject, inPresent(this.#model.content))
  }

  async #write(batches: readonly (readonly WriteSpec[])[], form: WriteForm, sync: boolean): Promise<void> {
    const { space, key } = batches[0]![0]!
    const before = this.#model.content.get(prefixes[space] + key)?.value
    const early = this.#subject.space(space).get(key)
    await Promise.all(this.#send(batches, form, sync))
    assert.is(await early, before, 'a read before the write')
    if (sync) this.#model.makeDurable()
  }

  /** Starts the writes, one batch each. */
  #send(batches: readonly (readonly WriteSpec[])[], form: WriteForm, sync: boolean): Promise<number>[] {
    return batches.map((batch) => {
      const operations = batch.map((spec) => ({ ...spec, text: this.#textOf(spec) }))
      const number = this.#model.write(
        operations.map(({ space, key, value, text }) => ({
          key: prefixes[space] + key,
          value: value === undefined ? undefined : text
        }))
      )
      return this.#subject.write(operations, form, sync).then(() => number)
    })
  }

  #textOf({ value }: WriteSpec): string {
    if (value === undefined) return ''
    if (value.kind === 'text') return value.text
    const { color, mixed, filler } = value
    return JSON.stringify({ n: ++this.#serial, color: colors[color], mixed, filler: 'filler '.repeat(filler / 7) })
  }

  async #clear(scan: ScanSpec): Promise<void> {
    const moment = this.#momentOf(scan.snapshot)
    const prefix = prefixes[scan.space]
    const cleared = new ModelIterator(moment.content, prefix, scan.range, scan.reverse, scan.limit).take(maxCleared)
    await this.#subject.space(scan.space).clear(scanOptions(scan, moment))
    if (cleared.length > 0) this.#model.write(cleared.map(({ key }) => ({ key: prefix + key, value: undefined })))
  }

  async #openIterator(scan: ScanSpec, highWaterMarkBytes: number): Promise<void> {
    if (this.#iterators.length >= maxOpen) await this.#closeIterator(0)
    const moment = this.#momentOf(scan.snapshot)
    const options = { ...scanOptions(scan, moment), highWaterMarkBytes }
    this.#iterators.push({
      iterator: this.#subject.space(scan.space).iterator(options),
      model: new ModelIterator(moment.content, prefixes[scan.space], scan.range, scan.reverse, scan.limit),
      snapshot: moment.snapshot
    })
  }

  async #useIterator(use: Extract<Operation, { kind: 'useIterator' }>): Promise<void> {
    const open = this.#iterators[use.iterator % this.#iterators.length]
    if (open === undefined) return
    const { iterator, model } = open
    if (use.target !== undefined) {
      iterator.seek(use.target)
      model.seek(use.target)
    }
    if (use.count === 0) {
      const next = await iterator.next()
      assert.equal(next === undefined ? [] : [next], model.take(1).map(asPair), 'next')
      return
    }
    const found = await iterator.nextv(use.count)
    assert.ok(found.length > 0 || model.peek(1).length === 0, 'nextv gives an entry unless there is none')
    assert.ok(found.length <= use.count, 'nextv gives no more than was asked for')
    assert.equal(found, model.take(found.length).map(asPair), 'nextv')
  }

  async #closeIterator(index: number): Promise<void> {
    const [closed] = this.#iterators.splice(index % this.#iterators.length, 1)
    await closed?.iterator.close()
  }

  async #closeSnapshot(index: number): Promise<void> {
    const [closed] = this.#snapshots.splice(index % this.#snapshots.length, 1)
    if (closed === undefined) return
    // Iterators of a closed snapshot would throw.
    const orphans = this.#iterators.filter(({ snapshot }) => snapshot === closed.snapshot)
    this.#iterators = this.#iterators.filter((open) => !orphans.includes(open))
    await Promise.all(orphans.map(({ iterator }) => iterator.close()))
    await closed.snapshot.close()
  }

  async #reopen(variant: number): Promise<void> {
    await this.#subject.close()
    await this.#opened(() => this.#subject.open(variant))
  }

  async #crash({ batches, sync, turns: count, seed, variant }: Extract<Operation, { kind: 'crash' }>): Promise<void> {
    let hasCrashed = false
    const writes = this.#send(batches, 'single', sync).map(async (write) => {
      const number = await write
      if (sync && !hasCrashed) this.#model.makeDurable(number)
    })
    await turns(count)
    const openAgain = this.#subject.crash(seed)
    hasCrashed = true
    await Promise.all(writes)
    await this.#subject.close()
    await this.#opened(() => openAgain(variant))
  }

  /** Opens the store and compares it with the model. Recovery has made durable what it returns. */
  async #opened(open: () => Promise<void>): Promise<void> {
    this.#snapshots = []
    this.#iterators = []
    await open()
    const found = await this.#subject.db.iterator().all()
    if (!this.#model.recover(found)) {
      assert.equal(found, [...this.#model.content.values()].map(asPair), 'a suffix of the writes at most is lost')
      assert.unreachable('more was lost than might be')
    }
  }

  #momentOf(snapshot: number | undefined): Moment {
    const open = snapshot === undefined ? undefined : this.#snapshots[snapshot % this.#snapshots.length]
    return open ?? inPresent(this.#model.content)
  }
}

const maxCleared = Number.MAX_SAFE_INTEGER

function asPair({ key, value }: { readonly key: string; readonly value: string }): [string, string] {
  return [key, value]
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
}

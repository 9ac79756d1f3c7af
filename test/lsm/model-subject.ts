/** The store that a history is played on: in memory, where it can crash, or on disk, with the worker. */
import { rmSync } from 'node:fs'
import type { AbstractLevel } from 'abstract-level'
import { EncodedBatch, LsmLevel, MemoryFileSystem, type StoreOptions } from '../../src/lsm/index.ts'
import { createRandom } from '../bloom/random.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { prefixes, type Space, sublevels, type WriteForm, type WriteSpec } from './model-operations.ts'

export interface Setting {
  /** The first is used at the beginning, any of them at each reopening. */
  readonly variants: readonly StoreOptions[]
  /** On disk. Default: in memory. */
  readonly isReal?: boolean
}

const encodings = { keyEncoding: 'hex', valueEncoding: 'utf8' } as const

export type Level = AbstractLevel<Buffer, string, string>

export class Subject {
  readonly #setting: Setting
  #disk: MemoryFileSystem | undefined
  readonly #location: string
  #db!: LsmLevel<string, string>
  #spaces: readonly Level[] = []
  /** Reused at once, as callers may. */
  readonly #encoded = new EncodedBatch()

  constructor(setting: Setting) {
    this.#setting = setting
    this.#disk = setting.isReal === true ? undefined : new MemoryFileSystem()
    this.#location = this.#disk === undefined ? temporaryDirectory() : '/model/db'
  }

  get db(): LsmLevel<string, string> {
    return this.#db
  }

  /** The database or a sublevel. */
  space(space: Space): Level {
    return this.#spaces[space]!
  }

  get canCrash(): boolean {
    return this.#disk !== undefined
  }

  async open(variant = 0): Promise<void> {
    const { variants } = this.#setting
    const options = variants[variant % variants.length]!
    const fileSystem = this.#disk === undefined ? {} : { fileSystem: this.#disk }
    this.#db = new LsmLevel<string, string>(this.#location, { ...options, ...fileSystem, ...encodings })
    const inner = sublevels.map((name) => this.#db.sublevel<string, string>(name, encodings))
    // Because of the type of its hooks, neither a sublevel nor a subclass is a subtype.
    this.#spaces = [this.#db, ...inner] as unknown as Level[]
    // Reads that are deferred until a database is open would see a later state than that at their call.
    for (const space of this.#spaces) await space.open()
  }

  async close(): Promise<void> {
    await this.#db.close()
  }

  /** Writes a batch by one of the methods for it. */
  write(batch: readonly (WriteSpec & { readonly text: string })[], form: WriteForm, sync: boolean): Promise<void> {
    const [only] = batch
    if (form === 'single' && only !== undefined && batch.length === 1) {
      const space = this.space(only.space)
      // `sync` is an option of this store, which a sublevel passes on.
      const options = { sync } as object
      return only.value === undefined ? space.del(only.key, options) : space.put(only.key, only.text, options)
    }
    if (form === 'encoded') {
      this.#encoded.clear()
      for (const { space, key, value, text } of batch) {
        const [keyBytes, prefix] = [Buffer.from(key, 'hex'), Buffer.from(prefixes[space], 'hex')]
        if (value === undefined) this.#encoded.del(keyBytes, prefix)
        else this.#encoded.put(keyBytes, Buffer.from(text), prefix)
      }
      return this.#db.write(this.#encoded, { sync })
    }
    if (form === 'chained') {
      const chained = this.#db.batch()
      for (const { space, key, value, text } of batch) {
        const options = space === 0 ? {} : { sublevel: this.space(space) as never }
        if (value === undefined) chained.del(key, options)
        else chained.put(key, text, options)
      }
      return chained.write({ sync } as object)
    }
    const operations = batch.map(({ space, key, value, text }) => {
      const options = space === 0 ? {} : { sublevel: this.space(space) as never }
      return value === undefined
        ? { type: 'del' as const, key, ...options }
        : { type: 'put' as const, key, value: text, ...options }
    })
    return this.#db.batch(operations, { sync })
  }

  /**
   * Simulates a power failure at this moment; calls in progress may succeed or fail.
   * @returns a function that opens what is left
   */
  crash(seed: number): (variant: number) => Promise<void> {
    const random = createRandom(seed)
    const disk = this.#disk
    if (disk === undefined) throw new TypeError('a real directory cannot crash')
    const [worst] = seed % 3 === 0 ? disk.crashStates() : []
    const left = worst ?? disk.crashClone({ random: () => random.below(2 ** 32) / 2 ** 32 })
    return async (variant) => {
      this.#disk = left
      await this.open(variant)
    }
  }

  remove(): void {
    if (this.#disk === undefined) rmSync(this.#location, { recursive: true, force: true })
  }
}

/**
 * Picks fields of JSON objects in WebAssembly, with one instance for each thread.
 *
 * Memory: the names of the picker used last | a record | its wanted fields. It grows with the largest record.
 */
import { compileModule, type GrowingWasmMemory, webAssembly } from '../../../model/web-assembly.ts'
import { pickerKernelBase64 } from './picker-kernel.generated.ts'

interface Functions {
  /** Returns the number of bytes written to `target`; 0 if a parser has to read the record. */
  pick(start: number, end: number, names: number, target: number): number
}

const pageBytes = 0x10000
const namesAt = 16
const recordAt = pageBytes
/** The size of a table by the lengths of names, and of a name's entry without its bytes; see assembly/index.ts. */
const tableBytes = 128
const entryBytes = 12
/** Loads and copies overrun their operands by less than this. */
const slack = 128
const initialPages = 4
/** For records of up to 4 MiB: memory is never given back, and longer ones are few. */
const maxPages = 132

/** Wanted fields of an object, by name; undefined: all that is within. */
export type FieldNames = ReadonlyMap<string, FieldNames | undefined>

class PickerKernel {
  readonly #memory: GrowingWasmMemory
  readonly #functions: Functions
  #bytes: Buffer
  /** The names in memory, as encodeNames() returned them. */
  #names: Uint8Array | undefined

  constructor(memory: GrowingWasmMemory, functions: Functions) {
    this.#memory = memory
    this.#functions = functions
    this.#bytes = Buffer.from(memory.buffer)
  }

  /**
   * Returns the wanted fields of the object in bytes[start, end) as JSON; undefined if it is not a record's JSON, or has
   * unusual keys.
   */
  pick(bytes: Uint8Array, start: number, end: number, names: Uint8Array): string | undefined {
    const recordEnd = recordAt + end - start
    const target = recordEnd + slack
    const neededBytes = target + end - start + slack
    if (neededBytes > this.#bytes.length && !this.#grow(neededBytes)) return undefined
    const memory = this.#bytes
    if (names !== this.#names) {
      memory.set(names, namesAt)
      this.#names = names
    }
    memory.set(bytes.subarray(start, end), recordAt)
    const length = this.#functions.pick(recordAt, recordEnd, namesAt, target)
    return length === 0 ? undefined : memory.toString('utf8', target, target + length)
  }

  #grow(bytes: number): boolean {
    try {
      this.#memory.grow(Math.ceil((bytes - this.#bytes.length) / pageBytes))
    } catch {
      return false
    }
    this.#bytes = Buffer.from(this.#memory.buffer)
    return true
  }
}

let kernel: PickerKernel | undefined

/** @returns undefined without WebAssembly SIMD */
export function pickerKernel(): PickerKernel | undefined {
  kernel ??= instantiate()
  return kernel
}

function instantiate(): PickerKernel | undefined {
  if (webAssembly === undefined) return undefined
  const module = compileModule(pickerKernelBase64)
  if (module === undefined) return undefined
  const memory = new webAssembly.Memory({ initial: initialPages, maximum: maxPages })
  const { exports } = new webAssembly.Instance(module, { env: { memory } })
  return new PickerKernel(memory, exports as Functions)
}

/** Returns the names as the kernel reads them; undefined if these are too many. */
export function encodeNames(names: FieldNames): Uint8Array | undefined {
  const target = Buffer.alloc(recordAt - namesAt - slack)
  const length = writeTable(names, target, 0)
  return length > target.length ? undefined : target.subarray(0, length)
}

/** Writes a table and its names at `at`; returns where they end. */
function writeTable(names: FieldNames, target: Buffer, at: number): number {
  let end = at + tableBytes
  for (const [name, within] of names) {
    const bytes = Buffer.from(name)
    const entry = end
    end += entryBytes + bytes.length
    const withinAt = within === undefined ? undefined : end
    if (within !== undefined) end = writeTable(within, target, end)
    if (end > target.length) return end
    const slot = at + 4 * (bytes.length % 32)
    target.writeUInt32LE(target.readUInt32LE(slot), entry)
    target.writeUInt32LE(withinAt === undefined ? 0 : namesAt + withinAt, entry + 4)
    target.writeUInt32LE(bytes.length, entry + 8)
    target.set(bytes, entry + entryBytes)
    target.writeUInt32LE(namesAt + entry, slot)
  }
  return end
}

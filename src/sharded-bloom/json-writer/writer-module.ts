/**
 * The writer's WebAssembly instance: its function and constants, typed, over a memory of its own, whose layout stands in
 * assembly/index.ts.
 */
import { webAssembly } from '../../bloom/kernels/web-assembly.ts'
import { writerBase64 } from './writer.generated.ts'

/** What assembly/ exports as constants: places are byte offsets. */
const constantNames = [
  'PIECES',
  'PIECES_END',
  'MAX_PIECE_BYTES',
  'OPERATIONS',
  'MAX_OPERATIONS',
  'NUMBERS',
  'MAX_NUMBERS',
  'UNITS',
  'MAX_UNITS',
  'OUT',
  /** Kinds of operations; a text, a number and what is written verbatim take their units, or numbers, in turn. */
  'TEXT',
  'INT32',
  'INTEGER',
  'VERBATIM',
  'NULL',
  'FALSE',
  'TRUE',
  'BEGIN_OBJECT',
  'BEGIN_ARRAY',
  'END_OBJECT',
  'END_ARRAY',
  /** An operation is its kind and, from this bit on, the address of what its key is written as. */
  'PIECE_SHIFT'
] as const

export type WriterConstants = Readonly<Record<(typeof constantNames)[number], number>>

interface WriterFunctions {
  /**
   * Writes the document that `count` words of operations make to OUT + start. TEXT and VERBATIM are followed by their
   * length in units, INT32 by its value.
   * @returns where the document ends, from OUT; −1 when there is no room
   */
  write(start: number, count: number): number
}

export interface WriterModule {
  readonly functions: WriterFunctions
  readonly constants: WriterConstants
  readonly buffer: ArrayBuffer
}

/** Everything in assembly/index.ts ends below. */
const memoryPages = 20

/** An instance and its memory; undefined where the runtime has no WebAssembly, or no room. */
export function instantiateWriter(): WriterModule | undefined {
  if (webAssembly === undefined) return undefined
  const module = new webAssembly.Module(Uint8Array.from(atob(writerBase64), (character) => character.charCodeAt(0)))
  try {
    const memory = new webAssembly.Memory({ initial: memoryPages, maximum: memoryPages })
    const { exports } = new webAssembly.Instance(module, { env: { memory } })
    const globals = exports as Readonly<Record<string, { readonly value: number }>>
    return {
      functions: exports as WriterFunctions,
      constants: Object.fromEntries(constantNames.map((name) => [name, globals[name]!.value])) as WriterConstants,
      buffer: memory.buffer
    }
  } catch {
    // The address space is used up.
    return undefined
  }
}

/**
 * Types for the few parts of the WebAssembly JavaScript interface that the kernels need: TypeScript declares that
 * interface only together with the DOM, which this library does not have.
 */

export interface WasmMemory {
  /** Detached only by growing; a memory whose initial size is its maximum cannot grow. */
  readonly buffer: ArrayBuffer
}

export interface SharedWasmMemory {
  readonly buffer: SharedArrayBuffer
}

export interface GrowingWasmMemory extends WasmMemory {
  /** Adds `pages` pages of 64 KiB. @throws RangeError beyond the maximum, or if the system has no memory left */
  grow(pages: number): number
}

/** In pages of 64 KiB. */
interface Limits {
  readonly initial: number
  readonly maximum: number
}

interface WebAssemblyInterface {
  readonly Module: new (bytes: Uint8Array) => object
  readonly CompileError: new (message: string) => Error
  readonly Instance: new (module: object, imports: object) => { readonly exports: object }
  readonly Memory: {
    new (limits: Limits & { readonly shared: true }): SharedWasmMemory
    new (limits: Limits): GrowingWasmMemory
  }
}

/** Undefined if the runtime has no WebAssembly. */
export const webAssembly = (globalThis as { readonly WebAssembly?: WebAssemblyInterface }).WebAssembly

const { Buffer } = globalThis as { readonly Buffer?: { from(text: string, encoding: 'base64'): Uint8Array } }

/**
 * Compiles a module from the sources. Synchronous: the modules have a few kilobytes, and validating one first would take
 * as long as compiling it.
 * @param base64 the module's code
 * @returns undefined if the runtime has no WebAssembly, or lacks what the module needs of it, such as SIMD
 */
export function compileModule(base64: string): object | undefined {
  if (webAssembly === undefined) return undefined
  try {
    return new webAssembly.Module(decode(base64))
  } catch (error) {
    if (error instanceof webAssembly.CompileError) return undefined
    throw error
  }
}

/** Where there is no Buffer, a loop, because `Uint8Array.from` with a callback takes three times as long. */
function decode(base64: string): Uint8Array {
  if (Buffer !== undefined) return Buffer.from(base64, 'base64')
  const characters = atob(base64)
  const code = new Uint8Array(characters.length)
  for (let i = 0; i < code.length; i++) code[i] = characters.charCodeAt(i)
  return code
}

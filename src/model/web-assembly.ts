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
  validate(bytes: Uint8Array): boolean
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: object }
  readonly Memory: {
    new (limits: Limits & { readonly shared: true }): SharedWasmMemory
    new (limits: Limits): GrowingWasmMemory
  }
}

/** Undefined if the runtime has no WebAssembly. */
export const webAssembly = (globalThis as { readonly WebAssembly?: WebAssemblyInterface }).WebAssembly

/**
 * Decodes a module's code from the sources. A loop, because `Uint8Array.from` with a callback takes three times as
 * long.
 */
export function decodeCode(base64: string): Uint8Array {
  const characters = atob(base64)
  const code = new Uint8Array(characters.length)
  for (let i = 0; i < code.length; i++) code[i] = characters.charCodeAt(i)
  return code
}

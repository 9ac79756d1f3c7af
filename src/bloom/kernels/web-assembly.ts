/**
 * The few parts of the WebAssembly JavaScript interface that the kernels need, typed: TypeScript declares that
 * interface only together with the DOM, which this library does not have.
 */

export interface WasmMemory {
  /** Detached by growing only; a memory whose initial size is its maximum cannot grow. */
  readonly buffer: ArrayBuffer
}

export interface GrowingWasmMemory extends WasmMemory {
  /** Adds so many pages of 64 KiB. @throws RangeError beyond the maximum, and when the system has none */
  grow(pages: number): number
}

interface WebAssemblyInterface {
  validate(bytes: Uint8Array): boolean
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: object }
  readonly Memory: new (limits: { readonly initial: number; readonly maximum: number }) => GrowingWasmMemory
}

/** undefined where the runtime has no WebAssembly. */
export const webAssembly = (globalThis as { readonly WebAssembly?: WebAssemblyInterface }).WebAssembly

/** A module's code, as it stands in the sources. By a loop: `Uint8Array.from` with a callback takes three times as long. */
export function decodeCode(base64: string): Uint8Array {
  const characters = atob(base64)
  const code = new Uint8Array(characters.length)
  for (let i = 0; i < code.length; i++) code[i] = characters.charCodeAt(i)
  return code
}

/** Compiles the kernels, where this runtime has what they need. */
import { PetalError } from '../../model/errors.ts'
import { compileModule, type SharedWasmMemory, webAssembly } from '../../model/web-assembly.ts'
import { kernelsBase64 } from './kernels.generated.ts'
import type { Kernels } from './kernels.ts'

/**
 * Compiles the kernels over a memory.
 * @throws PetalError KernelsUnavailable without WebAssembly SIMD, or on a big-endian machine
 */
export function instantiateKernels(memory: SharedWasmMemory): Kernels {
  if (webAssembly === undefined) throw unavailable('this JavaScript runtime has no WebAssembly')
  // Wasm memory is always little-endian; typed arrays over it only on little-endian machines.
  if (new Uint8Array(Uint32Array.of(1).buffer)[0] !== 1) throw unavailable('this machine is big-endian')
  const module = compileModule(kernelsBase64)
  if (module === undefined) throw unavailable('this JavaScript runtime has no WebAssembly SIMD')
  return new webAssembly.Instance(module, { env: { memory } }).exports as Kernels
}

export function unavailable(reason: string): PetalError {
  return new PetalError(
    'KernelsUnavailable',
    `The bitwise index needs WebAssembly with 128-bit SIMD, but ${reason}. Node 20 on x86-64 or arm64 supports it.`
  )
}

/** Bit kernels and the memory they work on. */
export type { Kernels } from './kernels.ts'
export { DEFAULT_ROW_MEMORY_BYTES, FRAME_BYTES, RowMemory, rowMemory } from './row-memory.ts'

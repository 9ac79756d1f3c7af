/** Bit kernels and the memory they work on. */
export { enumerateSlack, type Kernels } from './kernels.ts'
export type { FrameHolder } from './row-memory.ts'
export { FRAME_BYTES, RowMemory, rowMemory } from './row-memory.ts'

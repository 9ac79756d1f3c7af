/** Content and options of the stores in the tests of the tools. */
import { jsonExtractor, type StoreOptions } from '../../src/lsm/index.ts'

/** So small that some hundred entries fill several tables in several levels. */
export const smallOptions: StoreOptions = {
  writeBufferSize: 6000,
  maxFileSize: 3000,
  blockSize: 300,
  level1Bytes: 8000,
  keyFilterBits: 10
}

export const valueOptions: StoreOptions = {
  ...smallOptions,
  values: {
    extractor: jsonExtractor({ fields: ['color', 'n'], zones: ['n'] }),
    filterBits: 4096,
    filterHashes: 4,
    blockFilterBits: 8
  }
}

export function keyOf(i: number): string {
  return `k${String(i).padStart(4, '0')}`
}

export function documentOf(i: number, round = 0): string {
  return JSON.stringify({ color: ['red', 'green', 'blue'][i % 3], n: i, round, text: `text ${i * 7919} of ${round}` })
}

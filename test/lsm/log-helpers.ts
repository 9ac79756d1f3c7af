/** Builds logs for tests, and reads them. */
import { EntryKind } from '../../src/lsm/format/entry.ts'
import { LogReader, type LogRecord } from '../../src/lsm/format/log-reader.ts'
import { recordHeaderBytes } from '../../src/lsm/format/log-record.ts'
import {
  batchHeaderBytes,
  decodeBatches,
  encodeDelete,
  encodedDeleteBytes,
  encodedPutBytes,
  encodePut,
  writeBatchHeader
} from '../../src/lsm/format/write-batch.ts'
import type { FileSystem } from '../../src/lsm/fs/file-system.ts'

/** A put, or a deletion if it has no value. */
export interface TestOperation {
  readonly key: Uint8Array
  readonly value?: Uint8Array | undefined
}

export interface TestBatch {
  readonly sequence: number
  readonly operations: readonly TestOperation[]
}

export function put(key: string, value: string): TestOperation {
  return { key: Buffer.from(key), value: Buffer.from(value) }
}

export function del(key: string): TestOperation {
  return { key: Buffer.from(key) }
}

/** A record as the engine passes it to LogWriter: room for the header, then the batches. */
export function recordOf(...batches: readonly TestBatch[]): Uint8Array {
  let bytes = recordHeaderBytes
  for (const { operations } of batches) {
    bytes += batchHeaderBytes
    for (const { key, value } of operations) {
      bytes += value === undefined ? encodedDeleteBytes(key.length) : encodedPutBytes(key.length, value.length)
    }
  }
  const record = Buffer.alloc(bytes)
  let at = recordHeaderBytes
  for (const { sequence, operations } of batches) {
    at = writeBatchHeader(record, at, sequence, operations.length)
    for (const { key, value } of operations) {
      at = value === undefined ? encodeDelete(record, at, key) : encodePut(record, at, key, value)
    }
  }
  if (at !== bytes) throw new Error(`wrote ${at} bytes where ${bytes} were foretold`)
  return record
}

/** A record of one batch with one put, numbered `sequence`. */
export function recordOfPut(sequence: number, valueBytes = 10): Uint8Array {
  return recordOf({ sequence, operations: [put(`key${sequence}`, `${sequence}`.padEnd(valueBytes, '.'))] })
}

/** The operations of a payload, each with its sequence number. */
export function operationsOf(payload: Uint8Array, path = 'test'): (TestOperation & { readonly sequence: number })[] {
  const operations: (TestOperation & { readonly sequence: number })[] = []
  decodeBatches(payload, 0, payload.length, { path }, (operation) => {
    const { keyBytes, keyStart, keyEnd, sequence, kind, valueBytes, valueStart, valueEnd } = operation
    const value = kind === EntryKind.put ? new Uint8Array(valueBytes.subarray(valueStart, valueEnd)) : undefined
    operations.push({ sequence, key: new Uint8Array(keyBytes.subarray(keyStart, keyEnd)), value })
  })
  return operations
}

export function sequencesOf(payload: Uint8Array): number[] {
  return operationsOf(payload).map(({ sequence }) => sequence)
}

/** All records of a log, with copies of their payloads. */
export function readLog(fileSystem: FileSystem, path: string, logNumber: number): LogRecord[] {
  const file = fileSystem.open(path, 'read')
  try {
    const records: LogRecord[] = []
    for (const { payload, offset } of new LogReader(file, logNumber).records()) {
      records.push({ payload: new Uint8Array(payload), offset })
    }
    return records
  } finally {
    file.close()
  }
}

export function readFile(fileSystem: FileSystem, path: string): Buffer {
  const file = fileSystem.open(path, 'read')
  const bytes = Buffer.alloc(file.size())
  file.read(bytes, 0)
  file.close()
  return bytes
}

export function writeFile(fileSystem: FileSystem, path: string, bytes: Uint8Array): void {
  const file = fileSystem.open(path, 'create')
  file.write(bytes, 0)
  file.close()
}

/** The code of the error that `run` throws; undefined if it does not throw. */
export function codeOf(run: () => unknown): string | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    return String((error as { readonly code?: unknown }).code ?? error)
  }
}

/** The code of the error that the promise rejects with; undefined if it resolves. */
export async function rejectionCode(promise: Promise<unknown>): Promise<string | undefined> {
  try {
    await promise
    return undefined
  } catch (error) {
    return String((error as { readonly code?: unknown }).code ?? error)
  }
}

/**
 * Window functions: compiled once, started for each partition, and then asked for the value of one document after the
 * other.
 *
 * Invariant: a value is not changed by requesting later ones, and is never undefined.
 */
import type { CompiledSort } from '../../query/sort.ts'
import type { StagePlace } from '../errors.ts'
import type { OperatorCompiler } from '../operators/compiler.ts'
import type { Partition } from '../ordered-partitions.ts'

/** Counts what is held besides the documents. */
export interface Budget {
  /** @param bytes negative when memory is released @throws PetalError QueryExceededMemoryLimit */
  change(bytes: number): void
}

export interface WindowPartition extends Partition {
  readonly budget: Budget
}

/** Work that precedes a value; it may be paused wherever it yields. */
export type Work = Iterable<undefined>

/** The values of one field in a partition. */
export interface Column {
  /** REQUIRES: called for positions from 0 on, once each, followed by value(). */
  prepare?(position: number): Work
  value(position: number): unknown
}

export type WindowFunction = (partition: WindowPartition) => Column

/** The documents of a partition in [from, to). */
export interface Frame {
  readonly from: number
  readonly to: number
}

/** Values of frames, whose ends usually only move forward. */
export interface FrameValues {
  /** REQUIRES: completed before value() is called. */
  prepare?(frame: Frame): Work
  value(frame: Frame): unknown
}

export type FramedFunction = (partition: WindowPartition) => FrameValues

/** The context of compiling a function. */
export interface FunctionContext {
  /** Name of the function, such as `$sum`. */
  readonly name: string
  readonly place: StagePlace
  readonly compiler: OperatorCompiler
  /** undefined without a sortBy. */
  readonly sort: CompiledSort | undefined
}

/** Steps of work between points where it may be paused. */
export const stepsPerTurn = 256

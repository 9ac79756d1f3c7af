/**
 * What a window function is: compiled once, begun for each partition, and asked for the value of one document after the other.
 *
 * Invariant: a value does not change when later ones are asked for, and is never undefined.
 */
import type { CompiledSort } from '../../query/sort.ts'
import type { StagePlace } from '../errors.ts'
import type { OperatorCompiler } from '../operators/compiler.ts'
import type { Partition } from '../ordered-partitions.ts'

/** Counts what is held besides the documents. */
export interface Budget {
  /** @param bytes negative for what is given up. @throws PetalError QueryExceededMemoryLimit */
  change(bytes: number): void
}

export interface WindowPartition extends Partition {
  readonly budget: Budget
}

/** Work before a value; it may be interrupted wherever it yields. */
export type Work = Iterable<undefined>

/** The values of one field in a partition. */
export interface Column {
  /** REQUIRES: positions from 0 on, each once; then value() is asked for. */
  prepare?(position: number): Work
  value(position: number): unknown
}

export type WindowFunction = (partition: WindowPartition) => Column

/** Documents of a partition from one position to before another; none where these are equal. */
export interface Frame {
  readonly from: number
  readonly to: number
}

/** Values of frames, of which neither end goes back as a rule. */
export interface OverFrames {
  /** REQUIRES: to be done before value() is asked for. */
  prepare?(frame: Frame): Work
  value(frame: Frame): unknown
}

export type FramedFunction = (partition: WindowPartition) => OverFrames

/** What a function is compiled with. */
export interface FunctionContext {
  /** The function's: `$sum`. */
  readonly name: string
  readonly place: StagePlace
  readonly compiler: OperatorCompiler
  /** undefined without a sortBy. */
  readonly sort: CompiledSort | undefined
}

/** Steps of work between two places where it may be interrupted. */
export const stepsPerTurn = 256

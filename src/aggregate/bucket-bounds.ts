/**
 * Computes the bounds of `$bucketAuto` buckets: values of documents, or numbers of a preferred number series
 * (`granularity`).
 *
 * With a series, a bucket's `max` is the least number of the series above the bucket's values, and the `min` of the
 * first bucket the greatest below them; 0 stays 0.
 * @see ISO 3 (R series), IEC 60063 (E series)
 */
import { compareValues, equalValues } from '../model/compare.ts'
import { toDouble } from '../model/numbers.ts'
import { type Numeric, Type, typeOf } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import { type StagePlace, stageError } from './errors.ts'

export interface BucketBounds {
  /** @throws PetalError BadValue for a value that cannot be bucketed */
  check(value: unknown): void
  /** Returns the `min` of the first bucket. */
  first(least: unknown): unknown
  /** Returns the end of a bucket whose last value, going by its size alone, is `greatest`. */
  end(greatest: unknown): BucketEnd
}

export interface BucketEnd {
  /** Whether a greater value belongs to the bucket as well. */
  has(value: unknown): boolean
  /** Returns the bucket's `max`. @param next the first value after the bucket; undefined for the last bucket */
  max(next: unknown): unknown
}

export const boundsByValue: BucketBounds = {
  check() {},
  first: (least) => least,
  end: (greatest) => ({
    has: (value) => equalValues(greatest, value),
    max: (next) => (next === undefined ? greatest : next)
  })
}

/** All 80 numbers of a decade; R40 has every second one, and so on. */
const renard80 = [
  100, 103, 106, 109, 112, 115, 118, 122, 125, 128, 132, 136, 140, 145, 150, 155, 160, 165, 170, 175, 180, 185, 190,
  195, 200, 206, 212, 218, 224, 230, 236, 243, 250, 258, 265, 272, 280, 290, 300, 307, 315, 325, 335, 345, 355, 365,
  375, 387, 400, 412, 425, 437, 450, 462, 475, 487, 500, 515, 530, 545, 560, 580, 600, 615, 630, 650, 670, 690, 710,
  730, 750, 775, 800, 825, 850, 875, 900, 925, 950, 975
]
const e24 = [
  100, 110, 120, 130, 150, 160, 180, 200, 220, 240, 270, 300, 330, 360, 390, 430, 470, 510, 560, 620, 680, 750, 820, 910
]
/** IEC 60063 has 9.20 where the formula gives 9.19. */
const e192 = Array.from({ length: 192 }, (_, i) => (i === 185 ? 920 : Math.round(100 * 10 ** (i / 192))))

/** Numbers of a decade, times 100. */
const decades: Readonly<Record<string, readonly number[]>> = {
  R5: every(16, renard80),
  R10: every(8, renard80),
  R20: every(4, renard80),
  R40: every(2, renard80),
  R80: renard80,
  '1-2-5': [100, 200, 500],
  E6: every(4, e24),
  E12: every(2, e24),
  E24: e24,
  E48: every(4, e192),
  E96: every(2, e192),
  E192: e192
}
const powersOfTwo = 'POWERSOF2'

export const granularities: readonly string[] = [...Object.keys(decades), powersOfTwo]

/** @param granularity one of `granularities` */
export function boundsOfSeries(granularity: string, place: StagePlace): BucketBounds {
  const decade = decades[granularity]
  const around = decade === undefined ? powersAround : (value: number) => numbersAround(decade, value)
  /** As doubles, which the numbers of a series are. */
  const below = (value: unknown): number => {
    const number = toDouble(value as Numeric)
    return isFixed(number) ? number : around(number).findLast((bound) => bound < number)!
  }
  const above = (value: unknown): number => {
    const number = toDouble(value as Numeric)
    return isFixed(number) ? number : around(number).find((bound) => bound > number)!
  }
  return {
    check(value) {
      if (typeOf(value) !== Type.number) {
        throw stageError(
          'BadValue',
          place,
          `with a granularity, groupBy must produce numbers, not ${describeType(value)}`
        )
      }
      if (!(toDouble(value as Numeric) >= 0)) {
        throw stageError(
          'BadValue',
          place,
          `with a granularity, groupBy must produce numbers ≥ 0, not ${String(value)}`
        )
      }
    },
    first: below,
    end(greatest) {
      const bound = above(greatest)
      return {
        has: (value) => compareValues(value, bound) < 0 || equalValues(value, greatest),
        // A bucket of zeros ends where the next bucket starts.
        max: (next) => (bound === 0 && next !== undefined ? below(next) : bound)
      }
    }
  }
}

/** Values that are their own bound: no series contains numbers beyond them. */
function isFixed(number: number): boolean {
  return number === 0 || number === Number.POSITIVE_INFINITY
}

/** Returns numbers of the series in ascending order, including the neighbours of the value. */
function numbersAround(decade: readonly number[], value: number): number[] {
  const exponent = Math.floor(Math.log10(value))
  // Parsed from text: multiplying by a power of ten would be less exact.
  const ofDecade = (at: number): number[] => decade.map((hundreds) => Number(`${hundreds}e${at - 2}`))
  return [0, ...[-1, 0, 1].flatMap((step) => ofDecade(exponent + step)), Number.POSITIVE_INFINITY]
}

/** Like numbersAround(), for powers of two. */
function powersAround(value: number): number[] {
  const exponent = Math.floor(Math.log2(value))
  return [0, ...[-1, 0, 1, 2].map((step) => 2 ** (exponent + step)), Number.POSITIVE_INFINITY]
}

function every(step: number, numbers: readonly number[]): number[] {
  return numbers.filter((_, i) => i % step === 0)
}

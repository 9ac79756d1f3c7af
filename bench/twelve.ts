/** The classes of queries compared at a million documents and more. */
import type { QueryClassName } from '../src/workload/index.ts'

export const twelve: readonly QueryClassName[] = [
  'unique',
  'hundred',
  'one-percent',
  'and-three',
  'or-three-rare',
  'and-not',
  'absent',
  'equality-and-range',
  'newest',
  'range-time',
  'array',
  'nested'
]

/** All expression operators, by name. */
import { accumulatingOperators } from './accumulating.ts'
import { arithmeticOperators } from './arithmetic.ts'
import { arrayOperators } from './arrays.ts'
import { conversionOperators } from './conversions.ts'
import { dateArithmeticOperators } from './date-arithmetic.ts'
import { datePartOperators } from './date-parts.ts'
import { dateTextOperators } from './date-text.ts'
import { functionOperators } from './functions.ts'
import { iterationOperators } from './iteration.ts'
import { logicOperators } from './logic.ts'
import { objectOperators } from './objects.ts'
import type { Operator } from './operator.ts'
import { orderingOperators } from './ordering.ts'
import { patternOperators } from './patterns.ts'
import { setOperators } from './sets.ts'
import { textOperators } from './text.ts'

export const operators: ReadonlyMap<string, Operator> = new Map(
  Object.entries({
    ...accumulatingOperators,
    ...arithmeticOperators,
    ...arrayOperators,
    ...conversionOperators,
    ...dateArithmeticOperators,
    ...datePartOperators,
    ...dateTextOperators,
    ...functionOperators,
    ...iterationOperators,
    ...logicOperators,
    ...objectOperators,
    ...orderingOperators,
    ...patternOperators,
    ...setOperators,
    ...textOperators
  })
)

/**
 * The expressions of a find: `$expr` in its filter, and computed fields in its projection. Operators are loaded when
 * the first find that uses expressions runs.
 */
import { Expressions } from '../../aggregate/expression.ts'
import { isVariableName } from '../../aggregate/expression-compile.ts'
import { compileFindProjection } from '../../aggregate/reshape.ts'
import { cloneDocument } from '../../model/clone.ts'
import type { StringOrder } from '../../model/compare.ts'
import { PetalError } from '../../model/errors.ts'
import { type Document, isPlainObject } from '../../model/types.ts'
import { describeType } from '../../query/errors.ts'
import { type CompiledFilter, compileFilter } from '../../query/filter.ts'
import { sanitizeFilter } from '../../query/sanitize.ts'
import type { ReadOptions } from '../options.ts'

/** Compiles the parts of a find that may contain expressions. */
export class FindExpressions {
  readonly #options: Pick<ReadOptions, 'let'>
  /** Order of strings. */
  readonly #order: StringOrder | undefined
  readonly #now: Date | undefined
  /** Created for the first expression; most finds have none. */
  #expressions: Expressions | undefined

  /**
   * @param now the value of `$$NOW`; by default the time of its first use
   * @throws PetalError BadValue for an invalid `let`, whether or not an expression uses it
   */
  constructor(options: Pick<ReadOptions, 'let'>, order?: StringOrder, now?: Date) {
    this.#options = options
    this.#order = order
    this.#now = now
    if (options.let !== undefined) this.#get()
  }

  /** Loads the operators; undefined if there are none. */
  get prepare(): (() => Promise<void>) | undefined {
    const expressions = this.#expressions
    return expressions?.needsLoading ? () => expressions.load() : undefined
  }

  /** undefined if there are none. */
  get expressions(): Expressions | undefined {
    return this.#expressions
  }

  /** @throws PetalError for an invalid filter; an unknown operator only fails prepare() */
  filter(filter: unknown): CompiledFilter {
    return compileFilter(filter, {
      expression: (expression) => this.#get().condition(expression, { stage: '$expr' }),
      order: this.#order
    })
  }

  /** @param filter determines which element the positional `$` refers to */
  projection(spec: unknown, filter: unknown): ((document: Document) => Document) | undefined {
    if (spec === undefined) return undefined
    return compileFindProjection(spec, { filter, order: this.#order }, () => this.#get())
  }

  #get(): Expressions {
    this.#expressions ??= expressionsOf(this.#options, this.#order, this.#now)
    return this.#expressions
  }
}

/**
 * Returns expressions with the variables of the option `let`; see Expressions.
 * @throws PetalError BadValue unless `let` is an object of values by name
 */
export function expressionsOf(options: Pick<ReadOptions, 'let'>, order?: StringOrder, now?: Date): Expressions {
  const values: unknown = options.let ?? {}
  if (!isPlainObject(values)) throw badLet(`takes an object, not ${describeType(values)}`)
  const bad = Object.keys(values).find((name) => !isVariableName(name))
  if (bad !== undefined) throw badLet(`variables must begin with a lower-case letter, got '${bad}'`)
  try {
    // As constants in expressions, they become what the store would return: a Double is a number.
    return new Expressions(cloneDocument(sanitizeFilter(values)), order, now)
  } catch (error) {
    throw error instanceof PetalError ? badLet(`is invalid: ${error.message}`) : error
  }
}

function badLet(problem: string): PetalError {
  return new PetalError('BadValue', `let ${problem}`, { details: { option: 'let' } })
}

/** Tables of claims about filters: which documents match and which do not. */
import { inspect } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { PetalError } from '../../src/model/errors.ts'
import type { Document } from '../../src/model/types.ts'
import { compileFilter } from '../../src/query/filter.ts'

export interface Claim {
  readonly claim: string
  readonly filter: unknown
  readonly matches?: readonly Document[]
  readonly rejects?: readonly Document[]
}

export function testClaims(claims: readonly Claim[]): void {
  for (const { claim, filter, matches = [], rejects = [] } of claims) {
    test(claim, () => {
      const compiled = compileFilter(filter)
      for (const document of matches) assert.ok(compiled.matches(document), `${show(filter)} matches ${show(document)}`)
      for (const document of rejects) {
        assert.not.ok(compiled.matches(document), `${show(filter)} does not match ${show(document)}`)
      }
    })
  }
}

/** Asserts that the filter is refused with this error. */
export function assertRefused(filter: unknown, codeName: string, message: RegExp): PetalError {
  const caught = caughtBy(() => compileFilter(filter))
  assert.instance(caught, PetalError, `not refused: ${show(filter)}`)
  const error = caught as PetalError
  assert.is(error.codeName, codeName, `${show(filter)}: ${error.message}`)
  assert.match(error.message, message)
  return error
}

function caughtBy(action: () => unknown): unknown {
  try {
    action()
  } catch (error) {
    return error
  }
  return undefined
}

function show(value: unknown): string {
  return inspect(value, { depth: 6, breakLength: Number.POSITIVE_INFINITY })
}

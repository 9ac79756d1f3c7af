/** Random schemas over random documents: agreement with a second implementation, and equivalences. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Document } from '../../src/model/types.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { adversarial, documents, type Profile, plain, schemasFor, testSeed } from '../support/arbitraries.ts'
import { isValid, type SchemaObject } from '../support/schemas.ts'

const seed = testSeed()

function matches(filter: unknown, document: Document): boolean {
  return compileFilter(filter).matches(document)
}

function cases(profile: Profile): fc.Arbitrary<readonly [SchemaObject, readonly Document[]]> {
  return fc.tuple(schemasFor(profile, 3), fc.array(documents(profile), { minLength: 6, maxLength: 6 }))
}

for (const [name, profile] of Object.entries({ adversarial, plain })) {
  test(`${name}: a schema matches what a second implementation matches, keyword by keyword`, () => {
    let pairs = 0
    let found = 0
    fc.assert(
      fc.property(cases(profile), ([schema, list]) => {
        const filter = compileFilter({ $jsonSchema: schema })
        for (const document of list) {
          const isMatch = filter.matches(document)
          assert.is(isMatch, isValid(schema, document))
          pairs++
          if (isMatch) found++
        }
      }),
      { seed, numRuns: 12_000 }
    )
    console.log(`seed ${seed}: ${pairs} pairs, ${found} match`)
    assert.ok(found > pairs / 10 && found < 0.9 * pairs)
  })

  test(`${name}: equivalent schemas and filters match the same documents`, () => {
    const keys = fc.constantFrom('a', 'b', 'constructor', 'a.b')
    fc.assert(
      fc.property(cases(profile), keys, ([schema, list], key) => {
        for (const document of list) {
          const isMatch = matches({ $jsonSchema: schema }, document)
          const isAlike = (filter: Document, text: string): void => assert.is(matches(filter, document), isMatch, text)
          isAlike({ $jsonSchema: { not: { not: schema } } }, 'not not')
          isAlike({ $jsonSchema: { anyOf: [schema] } }, 'any of one')
          isAlike({ $jsonSchema: { anyOf: [{ not: {} }, schema] } }, 'any of it and nothing')
          isAlike({ $jsonSchema: { allOf: [schema, {}] } }, 'all of it and everything')
          isAlike({ $jsonSchema: { oneOf: [schema] } }, 'one of one')
          isAlike({ $nor: [{ $jsonSchema: { not: schema } }] }, 'not in the filter')
          isAlike({ $nor: [{ $nor: [{ $jsonSchema: schema }] }] }, 'twice')
          isAlike({ $and: [{ $jsonSchema: schema }, { $jsonSchema: {} }] }, 'and')
          assert.is(
            matches({ $jsonSchema: { required: [key] } }, document),
            Object.hasOwn(document, key),
            'required is an own key'
          )
          assert.is(
            matches({ $jsonSchema: { properties: { [key]: schema } } }, document),
            !Object.hasOwn(document, key) || isValid(schema, document[key]),
            'a property passes, or is missing'
          )
        }
      }),
      { seed, numRuns: 1500 }
    )
  })
}

test.run()

/** $out and $merge: what is refused before anything is read or written. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type AggregationPipeline, open } from '../../src/index.ts'
import { givenSource, names } from './aggregate-write-fixture.ts'
import { rejects, scratchPath } from './scratch.ts'

const given = givenSource(() => open(scratchPath()))

test('malformed stages are refused before anything is read or written', () =>
  given(async (db) => {
    const refused: readonly (readonly [AggregationPipeline, Parameters<typeof rejects>[1], RegExp])[] = [
      [[{ $out: 'a' }, { $match: {} }], 'FailedToParse', /^\$out \(stage 0\): it must be the last stage/],
      [[{ $merge: 'a' }, { $match: {} }], 'FailedToParse', /^\$merge \(stage 0\): it must be the last stage/],
      [
        [{ $facet: { f: [{ $out: 'a' }] } }],
        'FailedToParse',
        /\$out \(stage 0 of \$facet\.f\): it cannot be used in a nested pipeline/
      ],
      [
        [{ $unionWith: { coll: 'a', pipeline: [{ $merge: 'a' }] } }],
        'FailedToParse',
        /\$merge \(stage 0 of \$unionWith\)/
      ],
      [
        [{ $lookup: { from: 'a', pipeline: [{ $out: 'a' }], as: 'b' } }],
        'FailedToParse',
        /\$out \(stage 0 of \$lookup\)/
      ],
      [[{ $out: 5 }], 'BadValue', /a collection name must be a string, not number/],
      [[{ $out: {} }], 'BadValue', /a collection name must be a string, not undefined/],
      [[{ $out: { db: 'other', coll: 'a' } }], 'CommandNotSupported', /omit db/],
      [[{ $out: { coll: 'a', timeseries: {} } }], 'FailedToParse', /no option 'timeseries'/],
      [[{ $out: 'a$b' }], 'InvalidNamespace', /^\$out \(stage 0\): A collection name/],
      [[{ $merge: { into: { db: 'x', coll: 'a' } } }], 'CommandNotSupported', /omit db/],
      [[{ $merge: {} }], 'BadValue', /the argument must be an object, not an empty one/],
      [[{ $merge: { on: 'a' } }], 'BadValue', /a collection name must be a string, not undefined/],
      [[{ $merge: { into: 'a', onto: 'b' } }], 'FailedToParse', /no option 'onto'/],
      [[{ $merge: { into: 'a', on: [] } }], 'BadValue', /at least one field/],
      [[{ $merge: { into: 'a', on: 3 } }], 'BadValue', /a path must be a string/],
      [[{ $merge: { into: 'a', on: ['b', 'b'] } }], 'BadValue', /on names 'b' twice/],
      [
        [{ $merge: { into: 'a', whenMatched: 'change' } }],
        'BadValue',
        /whenMatched must be one of 'replace', .* or a pipeline, not 'change'/
      ],
      [
        [{ $merge: { into: 'a', whenNotMatched: 1 } }],
        'BadValue',
        /whenNotMatched must be one of 'insert', 'discard', 'fail', not number/
      ],
      [
        [{ $merge: { into: 'a', whenMatched: 'fail', whenNotMatched: 'fail' } }],
        'BadValue',
        /requires whenNotMatched: 'insert'/
      ],
      [
        [{ $merge: { into: 'a', whenMatched: 'keepExisting', whenNotMatched: 'discard' } }],
        'BadValue',
        /requires whenNotMatched: 'insert'/
      ],
      [[{ $merge: { into: 'a', let: { x: 1 } } }], 'BadValue', /let requires a whenMatched/],
      [[{ $merge: { into: 'a', let: { new: 1 }, whenMatched: [] } }], 'BadValue', /cannot define 'new'/],
      [[{ $merge: { into: 'a', let: 3, whenMatched: [] } }], 'BadValue', /let takes an object, not number/],
      [
        [{ $merge: { into: 'a', whenMatched: [{ $limit: 1 }] } }],
        'InvalidOptions',
        /^\$limit \(stage 0 of \$merge\.whenMatched\)/
      ],
      [[{ $merge: { into: 'a', whenMatched: [{ $match: {} }] } }], 'InvalidOptions', /^\$match/],
      [
        [{ $merge: { into: 'a', whenMatched: [{ $set: { x: '$$other' } }] } }],
        'FailedToParse',
        /no variable \$\$other/
      ],
      [[{ $set: { x: '$$new' } }, { $merge: { into: 'a', whenMatched: [] } }], 'FailedToParse', /no variable \$\$new/],
      [[{ $merge: { into: 'a', whenMatched: [{ $set: { x: { $nope: 1 } } }] } }], 'InvalidPipelineOperator', /\$nope/]
    ]
    for (const [pipeline, codeName, message] of refused) {
      assert.match((await rejects(db.aggregate(pipeline).toArray(), codeName)).message, message)
    }
    assert.equal(names(db), ['default'])
  }))

test.run()

/** $setWindowFields: what is refused. */
import { test } from 'uvu'
import type { Document } from '../../src/index.ts'
import { refusesStages } from './aggregate-over.ts'
import { secondsOn } from './aggregate-windows-fixture.ts'

test('a malformed $setWindowFields is refused before anything is read', () => {
  const sum = { $sum: '$n' }
  const by = (field: unknown, sortBy: Document | undefined = { at: 1 }): Document => ({
    $setWindowFields: { ...(sortBy && { sortBy }), output: { x: field } }
  })
  const unordered = (field: unknown): Document => ({ $setWindowFields: { output: { x: field } } })
  const within = (window: unknown, sortBy?: Document): Document => by({ ...sum, window }, sortBy)
  return refusesStages(
    [],
    [
      [{ $setWindowFields: 'x' }, 'BadValue', /must be an object, not string/],
      [{ $setWindowFields: {} }, 'BadValue', /an empty one/],
      [{ $setWindowFields: { sortBy: { a: 1 } } }, 'BadValue', /output must be an object, not undefined/],
      [{ $setWindowFields: { output: 'x' } }, 'BadValue', /output must be an object, not string/],
      [{ $setWindowFields: { output: {}, what: 1 } }, 'FailedToParse', /no option 'what'/],
      [{ $setWindowFields: { output: {}, sortBy: 'a' } }, 'BadValue', /an object, not string/],
      [{ $setWindowFields: { output: {}, sortBy: { a: 'up' } } }, 'BadValue', /'a'/],
      [{ $setWindowFields: { output: {}, sortBy: { $natural: 1 } } }, 'BadValue', /\$natural/],
      [
        { $setWindowFields: { output: {}, partitionBy: { $nope: 1 } } },
        'InvalidPipelineOperator',
        /no operator \$nope/
      ],
      [{ $setWindowFields: { output: {}, partitionBy: [] } }, 'BadValue', /must not evaluate to an array/],
      [
        { $setWindowFields: { output: {}, partitionBy: { $literal: [1] } } },
        'BadValue',
        /must not evaluate to an array/
      ],
      [{ $setWindowFields: { output: { $x: sum } } }, 'BadValue', /has the invalid component '\$x'/],
      [{ $setWindowFields: { output: { 'a..b': sum } } }, 'BadValue', /has the invalid component ''/],
      [{ $setWindowFields: { output: { a: sum, 'a.b': sum } } }, 'BadValue', /'a' and 'a\.b'/],
      [{ $setWindowFields: { output: { 'a.b.c': sum, 'a.b': sum } } }, 'BadValue', /'a\.b' and 'a\.b\.c'/],
      [
        by({ sum: '$n', window: {} }),
        'FailedToParse',
        /'x' must be a window function .* not an object without an operator/
      ],
      [by({}), 'FailedToParse', /a window function/],
      [by('$n'), 'FailedToParse', /a window function .* not string/],
      [by({ b: { $sum: '$n' } }), 'FailedToParse', /a window function/],
      [by({ $summ: '$n' }), 'FailedToParse', /'x': there is no window function \$summ/],
      [by({ $mergeObjects: '$n' }), 'FailedToParse', /no window function \$mergeObjects/],
      [by({ $accumulator: {} }), 'FailedToParse', /no window function \$accumulator/],
      [by({ ...sum, $avg: '$n' }), 'FailedToParse', /'x' has '\$avg' in addition to \$sum/],
      [by({ ...sum, windoww: {} }), 'FailedToParse', /'x' has 'windoww' in addition to \$sum/],
      [by({ $sum: '$$nothing' }), 'FailedToParse', /no variable \$\$nothing/],
      [within([-1, 1]), 'FailedToParse', /the window of \$sum: it must be an object, not array/],
      [within({ document: [-1, 1] }), 'FailedToParse', /the window of \$sum: there is no option 'document'/],
      [within({ documents: [-1, 1], range: [-1, 1] }), 'FailedToParse', /documents and range cannot be combined/],
      [within({ documents: [-1, 1], unit: 'day' }), 'FailedToParse', /unit can only be used with range/],
      [within({ unit: 'day' }), 'FailedToParse', /unit can only be used with range/],
      [within({ documents: [1] }), 'FailedToParse', /an array of two bounds/],
      [within({ documents: 1 }), 'FailedToParse', /an array of two bounds, not number/],
      [within({ documents: [1, -1] }), 'FailedToParse', /must not exceed the upper one: 1, -1/],
      [within({ documents: ['current', -1] }), 'FailedToParse', /must not exceed/],
      [within({ range: [1, 'current'] }), 'FailedToParse', /must not exceed/],
      [within({ range: [1, -1], unit: 'day' }), 'FailedToParse', /must not exceed/],
      [within({ documents: [-1.5, 1] }), 'FailedToParse', /'current' or a whole number, not '-1\.5'/],
      [within({ documents: ['now', 1] }), 'FailedToParse', /a whole number, not 'now'/],
      [within({ documents: [{ $literal: 'current' }, 1] }), 'FailedToParse', /a whole number, not 'current'/],
      [within({ documents: ['$n', 1] }), 'FailedToParse', /a whole number, not '\$n'/],
      [
        within({ documents: [{ $add: ['$n', 1] }, 1] }),
        'FailedToParse',
        /a bound of \$sum's window must be a constant/
      ],
      [within({ documents: [{ $rand: {} }, 1] }), 'FailedToParse', /must be a constant/],
      [within({ documents: [null, 1] }), 'FailedToParse', /a whole number, not null/],
      [within({ range: [new Date(0), 1] }), 'FailedToParse', /a number, not (d|D)ate/],
      [within({ range: [0.5, 1], unit: 'day' }), 'FailedToParse', /a whole number, not '0\.5'/],
      [within({ range: [0, 1], unit: 'days' }), 'FailedToParse', /unit must be one of .* not 'days'/],
      [within({ range: [0, 1], unit: 1 }), 'FailedToParse', /unit/],
      [
        unordered({ ...sum, window: { documents: ['unbounded', 'current'] } }),
        'FailedToParse',
        /documents needs a sortBy/
      ],
      [unordered({ ...sum, window: { range: ['unbounded', 'unbounded'] } }), 'FailedToParse', /one ascending field/],
      [within({ range: [0, 1] }, { a: 1, b: 1 }), 'FailedToParse', /one ascending field/],
      [within({ range: [0, 1] }, { a: -1 }), 'FailedToParse', /one ascending field/],
      [by({ $count: 1 }), 'FailedToParse', /\$count takes \{\}, not number/],
      [by({ $rank: '$at' }), 'FailedToParse', /\$rank takes \{\}, not string/],
      [by({ $rank: {}, window: { documents: [-1, 1] } }), 'FailedToParse', /\$rank takes no window/],
      [unordered({ $rank: {} }), 'FailedToParse', /\$rank needs a sortBy/],
      [by({ $denseRank: {} }, { a: 1, b: 1 }), 'FailedToParse', /\$denseRank needs a sortBy of one field, not 2/],
      [by({ $documentNumber: {} }, { a: 1, b: 1 }), 'FailedToParse', /\$documentNumber needs a sortBy of one field/],
      [by({ $minN: { input: '$n', n: 0 } }), 'BadValue', /\$minN: n takes a whole number ≥ 1, got 0/],
      [by({ $minN: { input: '$n', n: '$n' } }), 'BadValue', /\$minN: n takes a whole number ≥ 1, got nothing/],
      [by({ $minN: '$n' }), 'BadValue', /\$minN takes \{ input, n \}/],
      [by({ $topN: { output: '$n', n: 1 } }), 'BadValue', /\$topN needs 'sortBy'/],
      [by({ $percentile: { input: '$n', p: [2], method: 'approximate' } }), 'BadValue', /p takes numbers from 0 to 1/],
      [by({ $median: { input: '$n', method: 'exact' } }), 'BadValue', /\$median: method must be 'approximate'/]
    ]
  )
})

test('values that a range cannot handle are errors, whatever its bounds', async () => {
  const ranges = [
    [999, 999],
    [-999, 999],
    ['unbounded', 'unbounded'],
    ['current', 'current'],
    [3, 'unbounded']
  ]
  for (const range of ranges) {
    const numbers = { $setWindowFields: { sortBy: { at: 1 }, output: { x: { $max: 5, window: { range } } } } }
    const window = { range, unit: 'hour' }
    const dates = { $setWindowFields: { sortBy: { at: 1 }, output: { x: { $max: 5, window } } } }
    for (const [at, found] of [
      [undefined, 'missing'],
      [null, 'null'],
      ['x', 'string'],
      [[1], 'array']
    ] as const) {
      const documents = [{ at: 2 }, at === undefined ? {} : { at }]
      await refusesStages(documents, [
        [numbers, 'BadValue', new RegExp(`without a unit, range needs numbers to sort by, but 'at' is ${found}`)]
      ])
    }
    await refusesStages(
      [{ at: secondsOn(1) }],
      [[numbers, 'BadValue', /range needs numbers to sort by, but 'at' is (d|D)ate/]]
    )
    await refusesStages(
      [{ at: 1 }],
      [[dates, 'BadValue', /with a unit, range needs dates to sort by, but 'at' is number/]]
    )
  }
  const parted = { $setWindowFields: { partitionBy: '$p', output: {} } }
  await refusesStages([{ p: [] }], [[parted, 'BadValue', /partitionBy must not evaluate to an array/]])
})

test.run()

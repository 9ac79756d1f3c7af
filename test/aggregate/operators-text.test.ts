/** Operators on text: code points and bytes, null and missing, other types, patterns. */
import { Binary, BSONRegExp, BSONSymbol, Code, ObjectId, Timestamp } from 'bson'
import { test } from 'uvu'
import { gives, refuses } from './evaluate.ts'

const document = {
  text: 'abcabc',
  wide: 'a\u{1f600}é',
  nothing: null,
  list: ['a'],
  number: 7,
  at: new Date(0),
  long: 5n
}

test('operators that join, split, replace, trim and compare text return the documented results', async () => {
  await gives(
    [
      [{ $concat: ['$text', '-', 'x'] }, 'abcabc-x'],
      [{ $concat: ['$text', '$none'] }, null],
      [{ $concat: '$text' }, 'abcabc'],
      [{ $concat: [] }, ''],
      [{ $concat: ['a', '$none', 1] }, null],
      [{ $split: ['a-b--c', '-'] }, ['a', 'b', '', 'c']],
      [{ $split: ['$none', '-'] }, null],
      [{ $split: ['$text', '$nothing'] }, null],
      [{ $split: ['$text', 'x'] }, ['abcabc']],
      [{ $replaceOne: { input: '$text', find: 'b', replacement: '$literal' } }, null],
      [{ $replaceOne: { input: '$text', find: 'b', replacement: { $literal: '$&$1' } } }, 'a$&$1cabc'],
      [{ $replaceAll: { input: '$text', find: 'b', replacement: { $literal: '$&' } } }, 'a$&ca$&c'],
      [{ $replaceAll: { input: 'a.b', find: '.', replacement: '' } }, 'ab'],
      [{ $replaceOne: { input: '$text', find: '', replacement: '_' } }, '_abcabc'],
      [{ $replaceAll: { input: '$wide', find: '', replacement: '_' } }, '_a_\u{1f600}_é_'],
      [{ $replaceAll: { input: '$text', find: '$none', replacement: 'x' } }, null],
      [{ $trim: { input: '  x\u00a0\0' } }, 'x'],
      [{ $ltrim: { input: 'xyxa', chars: 'xy' } }, 'a'],
      [{ $rtrim: { input: 'a\u{1f600}\u{1f601}', chars: '\u{1f601}' } }, 'a\u{1f600}'],
      [{ $trim: { input: '\u{1f600}a', chars: '\u{1f601}' } }, '\u{1f600}a'],
      [{ $trim: { input: '$none' } }, null],
      [{ $trim: { input: 'a', chars: '$nothing' } }, null],
      [{ $toUpper: '$number' }, '7'],
      [{ $toLower: '$at' }, '1970-01-01t00:00:00.000z'],
      [{ $strcasecmp: ['$none', 'a'] }, -1],
      [{ $strcasecmp: ['B', 'b'] }, 0],
      [{ $strcasecmp: ['\u{1f600}', '\uffee'] }, 1],
      [{ $strcasecmp: [10, '9'] }, -1]
    ],
    document
  )
  await refuses(
    [
      { $concat: ['a', 1] },
      { $concat: [1, '$none'] },
      { $split: ['$text', ''] },
      { $split: ['$number', 'a'] },
      { $split: ['$text'] },
      { $replaceOne: { input: '$number', find: 'a', replacement: '$none' } },
      { $replaceAll: { input: 'a', find: 'a' } },
      { $trim: 'a' },
      { $trim: { input: 1 } },
      { $trim: { input: 'a', chars: 1 } },
      { $toLower: '$list' },
      { $toUpper: true },
      { $strcasecmp: ['a', true] }
    ],
    document
  )
})

test('timestamps and code are text where numbers are, but are neither joined nor converted', async () => {
  const stamp = new Timestamp({ t: 1_700_000_000, i: 7 })
  const early = new Timestamp({ t: 1, i: 2 ** 32 - 1 })
  const code = new Code('Return 1')
  await gives([
    [{ $toUpper: early }, 'JAN  1 00:00:01:4294967295'],
    [{ $toLower: stamp }, 'nov 14 22:13:20:7'],
    [{ $substrCP: [stamp, 0, 6] }, 'Nov 14'],
    [{ $substrBytes: [stamp, 16, -1] }, '7'],
    [{ $strcasecmp: [stamp, 'NOV 14 22:13:20:7'] }, 0],
    [{ $toUpper: { $literal: code } }, 'RETURN 1'],
    [{ $toLower: new BSONSymbol('Ab') }, 'ab'],
    [{ $concat: [new BSONSymbol('Ab'), 'c'] }, 'Abc']
  ])
  const others = [new ObjectId(), /a/, new Binary(new Uint8Array([1])), { a: 1 }, new Code('a', { b: 1 })]
  await refuses([
    { $concat: ['a', stamp] },
    { $concat: [{ $literal: code }] },
    { $toString: stamp },
    { $toString: { $literal: code } },
    ...others.map((value) => ({ $toLower: { $literal: value } })),
    ...others.map((value) => ({ $strcasecmp: ['a', { $literal: value }] }))
  ])
})

test('dates are text from the year 0 to the year 9999', async () => {
  const [first, last] = ['0000-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z']
  await gives([
    [{ $toString: new Date(first) }, first],
    [{ $toUpper: new Date(last) }, last]
  ])
  for (const at of [new Date(new Date(first).getTime() - 1), new Date(new Date(last).getTime() + 1)]) {
    await refuses([{ $toString: at }, { $toLower: at }, { $substrCP: [at, 0, 4] }, { $dateToString: { date: at } }])
  }
})

test('$indexOfCP finds text that begins before the end, $indexOfBytes text that ends by then', async () => {
  const found = (args: unknown[], byPoints: number, byBytes: number): Parameters<typeof gives>[0] => [
    [{ $indexOfCP: args }, byPoints],
    [{ $indexOfBytes: args }, byBytes]
  ]
  await gives(
    [
      ...found(['abc', '', 2], 2, 2),
      ...found(['abc', '', 3], -1, 3),
      ...found(['abc', '', 4], -1, -1),
      ...found(['abc', '', 0, 0], -1, 0),
      ...found(['abc', '', 1, 1], -1, 1),
      ...found(['abc', '', 2, 1], -1, -1),
      ...found(['abc', 'bc', 0, 1], -1, -1),
      ...found(['abc', 'bc', 0, 2], 1, -1),
      ...found(['abc', 'bc', 0, 3], 1, 1),
      ...found(['abc', 'bcd', 0, 9], -1, -1),
      ...found(['', ''], 0, 0),
      ...found(['', '', 0, 0], 0, 0),
      ...found(['', '', 1], -1, -1)
    ],
    document
  )
})

test('positions and lengths count code points, or bytes of UTF-8', async () => {
  await gives(
    [
      [{ $strLenCP: '$wide' }, 3],
      [{ $strLenBytes: '$wide' }, 7],
      [{ $strLenBytes: '100%' }, 4],
      [{ $substrCP: ['$wide', 1, 1] }, '\u{1f600}'],
      [{ $substrCP: ['$wide', 2, 9] }, 'é'],
      [{ $substrCP: ['$wide', 9, 1] }, ''],
      [{ $substrCP: ['$none', 0, 1] }, ''],
      [{ $substrCP: ['$number', 0, 1] }, '7'],
      [{ $substrBytes: ['$wide', 1, 4] }, '\u{1f600}'],
      [{ $substrBytes: ['$wide', 5n, -1] }, 'é'],
      [{ $substrBytes: ['$wide', 1.9, 4.5] }, '\u{1f600}'],
      [{ $substr: ['$wide', 5, Number.MAX_SAFE_INTEGER] }, 'é'],
      [{ $indexOfCP: ['$wide', 'é'] }, 2],
      [{ $indexOfBytes: ['$wide', 'é'] }, 5],
      [{ $indexOfBytes: ['$text', 'abc', 1] }, 3],
      [{ $indexOfBytes: ['$text', 'c', 0, 2] }, -1],
      [{ $indexOfBytes: ['$text', 'c', 9] }, -1],
      [{ $indexOfBytes: ['$text', '', 6] }, 6],
      [{ $indexOfBytes: ['$none', 'a'] }, null],
      [{ $indexOfCP: ['$text', 'abc', 1n] }, 3]
    ],
    document
  )
  await refuses(
    [
      { $strLenCP: '$none' },
      { $strLenBytes: '$number' },
      { $substrCP: ['$text', -1, 1] },
      { $substrCP: ['$text', 0, -1] },
      { $substrCP: ['$text', '$none', 1] },
      { $substrBytes: ['$wide', 2, 1] },
      { $substrBytes: ['$wide', 0, 2] },
      { $substrBytes: ['$text', -1, 1] },
      { $substrBytes: ['$text', 0, Number.NaN] },
      { $indexOfBytes: ['$text', '$none'] },
      { $indexOfBytes: ['$number', 'a'] },
      { $indexOfBytes: ['$text', 'a', -1] },
      { $indexOfCP: ['$text', 'a', '$none'] }
    ],
    document
  )
})

test('operators with patterns return matches, their places, and null for unused groups', async () => {
  await gives(
    [
      [{ $regexMatch: { input: '$text', regex: '^A', options: 'i' } }, true],
      [{ $regexMatch: { input: '$none', regex: 'a' } }, false],
      [{ $regexMatch: { input: '$text', regex: '$none' } }, false],
      [{ $regexMatch: { input: 'ab', regex: 'a b # both', options: 'x' } }, true],
      [{ $regexMatch: { input: 'a\nb', regex: /A.B/i, options: '$none' } }, false],
      [{ $regexFind: { input: '$text', regex: /b(x)?()/ } }, { match: 'b', idx: 1, captures: [null, ''] }],
      [{ $regexFind: { input: '$text', regex: 'x' } }, null],
      [{ $regexFind: { input: '$none', regex: 'x' } }, null],
      [{ $regexFind: { input: '😀x', regex: '.' } }, { match: '😀', idx: 0, captures: [] }],
      [{ $regexMatch: { input: '😀', regex: /^.$/, options: 's' } }, false],
      [{ $regexFind: { input: '$wide', regex: 'é' } }, { match: 'é', idx: 2, captures: [] }],
      [
        { $regexFindAll: { input: '$text', regex: new BSONRegExp('BC', 'i') } },
        [
          { match: 'bc', idx: 1, captures: [] },
          { match: 'bc', idx: 4, captures: [] }
        ]
      ],
      [{ $regexFindAll: { input: '$text', regex: /^a/ } }, [{ match: 'a', idx: 0, captures: [] }]],
      // After the last character no further match is searched for.
      [{ $regexFindAll: { input: 'ab', regex: 'x*' } }, [0, 1].map((idx) => ({ match: '', idx, captures: [] }))],
      [
        { $regexFindAll: { input: 'bbbb', regex: '()' } },
        [0, 1, 2, 3].map((idx) => ({ match: '', idx, captures: [''] }))
      ],
      [
        { $regexFindAll: { input: 'baa', regex: 'a*' } },
        [
          { match: '', idx: 0, captures: [] },
          { match: 'aa', idx: 1, captures: [] }
        ]
      ],
      [{ $regexFindAll: { input: 'a\nb', regex: /$/m } }, [1, 3].map((idx) => ({ match: '', idx, captures: [] }))],
      [{ $regexFindAll: { input: '', regex: '' } }, [{ match: '', idx: 0, captures: [] }]],
      [{ $regexFindAll: { input: '😀a', regex: 'x*' } }, [0, 1].map((idx) => ({ match: '', idx, captures: [] }))],
      [{ $regexFindAll: { input: '😀a', regex: /x*/ } }, [0, 1].map((idx) => ({ match: '', idx, captures: [] }))],
      [{ $regexFindAll: { input: '$none', regex: 'a' } }, []]
    ],
    document
  )
  await refuses(
    [
      { $regexMatch: { input: '$number', regex: 'a' } },
      { $regexMatch: { input: '$text', regex: 1 } },
      { $regexMatch: { input: '$text', regex: '(' } },
      { $regexMatch: { input: '$text', regex: '\\Aa' } },
      { $regexMatch: { input: '$text', regex: 'a', options: 'g' } },
      { $regexMatch: { input: '$text', regex: /a/i, options: 'm' } },
      { $regexFind: { input: '$text' } },
      { $regexFind: ['$text', 'a'] }
    ],
    document
  )
})

test.run()

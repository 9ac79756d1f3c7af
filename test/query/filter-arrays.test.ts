import { test } from 'uvu'
import { testClaims } from '../support/claims.ts'

testClaims([
  {
    claim: '$size counts elements',
    filter: { a: { $size: 2 } },
    matches: [{ a: [1, 2] }],
    rejects: [{ a: [1] }, { a: 2 }, {}, { a: [[1, 2]] }]
  },
  { claim: '$size accepts integers of any kind', filter: { a: { $size: 0n } }, matches: [{ a: [] }] },
  {
    claim: '$all matches arrays that contain every member, in any order',
    filter: { a: { $all: [1, 2] } },
    matches: [{ a: [2, 1, 3] }],
    rejects: [{ a: [1] }, { a: 1 }, { a: [[1, 2]] }]
  },
  { claim: '$all of one value matches a scalar', filter: { a: { $all: [1] } }, matches: [{ a: 1 }, { a: [1] }] },
  {
    claim: '$all of an array matches that array, or an element that equals it',
    filter: { a: { $all: [[1, 2]] } },
    matches: [{ a: [1, 2] }, { a: [[1, 2]] }],
    rejects: [{ a: [1] }]
  },
  { claim: '$all of nothing matches nothing', filter: { a: { $all: [] } }, rejects: [{ a: [] }, { a: [1] }, {}] },
  {
    claim: '$all of null matches missing',
    filter: { a: { $all: [null] } },
    matches: [{}, { a: null }, { a: [null] }],
    rejects: [{ a: [] }]
  },
  {
    claim: '$all accepts regular expressions',
    filter: { a: { $all: [/^x/, /y$/] } },
    matches: [{ a: ['xa', 'by'] }, { a: 'xy' }],
    rejects: [{ a: ['xa'] }]
  },
  {
    claim: '$all of $elemMatch needs an element for each',
    filter: { a: { $all: [{ $elemMatch: { b: 1 } }, { $elemMatch: { b: 2, c: 1 } }] } },
    matches: [{ a: [{ b: 1 }, { b: 2, c: 1 }] }],
    rejects: [{ a: [{ b: 1 }, { b: 2 }, { c: 1 }] }, { a: { b: 1 } }]
  },
  {
    claim: '$elemMatch of operators needs one element that satisfies all',
    filter: { a: { $elemMatch: { $gt: 1, $lt: 5 } } },
    matches: [{ a: [0, 3] }],
    rejects: [{ a: [0, 9] }, { a: 3 }, { a: [[3]] }, { a: [] }]
  },
  {
    claim: '$elemMatch of a filter needs one element that matches all of it',
    filter: { a: { $elemMatch: { b: 1, c: 2 } } },
    matches: [{ a: [{ b: 1, c: 2 }] }, { a: [{ b: [1], c: [2] }] }],
    rejects: [{ a: [{ b: 1 }, { c: 2 }] }, { a: { b: 1, c: 2 } }]
  },
  {
    claim: '$elemMatch negates per element',
    filter: { a: { $elemMatch: { $ne: 1 } } },
    matches: [{ a: [1, 2] }],
    rejects: [{ a: [1] }, { a: 2 }]
  },
  {
    claim: '$elemMatch with $nin needs one element that is not listed',
    filter: { a: { $elemMatch: { $nin: [1, 2] } } },
    matches: [{ a: [1, 3] }],
    rejects: [{ a: [1, 2] }]
  },
  {
    claim: '$elemMatch with $not needs one element that does not satisfy the condition',
    filter: { a: { $elemMatch: { $not: { $gt: 5 } } } },
    matches: [{ a: [9, 1] }, { a: ['x'] }],
    rejects: [{ a: [9] }]
  },
  {
    claim: '$elemMatch with null needs a null element',
    filter: { a: { $elemMatch: { $eq: null } } },
    matches: [{ a: [1, null] }],
    rejects: [{ a: [1] }, { a: [] }, {}]
  },
  {
    claim: '$elemMatch accepts logical operators',
    filter: { a: { $elemMatch: { $or: [{ b: 1 }, { c: 1 }] } } },
    matches: [{ a: [{ c: 1 }] }],
    rejects: [{ a: [{ d: 1 }] }]
  },
  {
    claim: '$elemMatch accepts a filter after a $comment',
    filter: { a: { $elemMatch: { $comment: 'why', b: 1 } } },
    matches: [{ a: [{ b: 1 }] }],
    rejects: [{ a: [{ b: 2 }, 1] }]
  },
  {
    claim: '$elemMatch accepts a logical operator after a $comment',
    filter: { a: { $elemMatch: { $comment: 'why', $or: [{ b: 1 }, { c: 1 }] } } },
    matches: [{ a: [{ c: 1 }] }],
    rejects: [{ a: [{ b: 2 }] }]
  },
  {
    claim: '$elemMatch accepts operators after a $comment',
    filter: { a: { $elemMatch: { $comment: 'why', $gt: 1 } } },
    matches: [{ a: [2] }],
    rejects: [{ a: [1] }]
  },
  {
    claim: '$elemMatch can be nested',
    filter: { a: { $elemMatch: { $elemMatch: { $gt: 3 } } } },
    matches: [{ a: [[1], [4]] }],
    rejects: [{ a: [4] }]
  },
  {
    claim: '$elemMatch of {} needs an element that is an object or array',
    filter: { a: { $elemMatch: {} } },
    matches: [{ a: [{}] }, { a: [[]] }],
    rejects: [{ a: [1] }, { a: [] }, { a: {} }]
  },
  {
    claim: '$elemMatch treats an array in the array as an object with positions for keys',
    filter: { a: { $elemMatch: { 0: 1 } } },
    matches: [{ a: [[1]] }],
    rejects: [{ a: [1] }]
  },
  {
    claim: '$elemMatch on a path through arrays needs an array at its end',
    filter: { 'a.b': { $elemMatch: { $gt: 1 } } },
    matches: [{ a: [{ b: 2 }, { b: [2] }] }],
    rejects: [{ a: [{ b: 2 }] }]
  },
  {
    claim: '$not of $elemMatch matches if no element does',
    filter: { a: { $not: { $elemMatch: { $gt: 1 } } } },
    matches: [{ a: [1] }, {}, { a: 5 }],
    rejects: [{ a: [1, 2] }]
  }
])

test.run()

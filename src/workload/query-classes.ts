/**
 * A query of every relevant class, with parameters that occur in the generated tweets as often as the class requires.
 * The classes are fixed; their values follow from seed and count.
 */
import type { Document } from '../model/types.ts'
import { Census } from './census.ts'
import { languages } from './languages.ts'
import { generateTweets } from './tweets.ts'
import { Users } from './users.ts'

export const queryClassNames = [
  'unique',
  'absent',
  'ten',
  'hundred',
  'third-of-percent',
  'one-percent',
  'ten-percent',
  'half',
  'and-three',
  'or-three-rare',
  'and-not',
  'in',
  'array',
  'exists',
  'range-count',
  'range-time',
  'equality-and-range',
  'nested',
  'newest',
  'regex'
] as const

export type QueryClassName = (typeof queryClassNames)[number]

export interface Query {
  readonly title: string
  readonly filter: Document
  /** Newest first; if undefined, the order of results is arbitrary. */
  readonly sort?: { readonly $natural: -1 }
  readonly limit?: number
}

export interface QueryClass extends Query {
  readonly name: QueryClassName
}

/**
 * The query classes over the tweets that `generateTweets({ count, seed })` yields; generates them once to count values.
 * @throws PetalError BadValue when count is not an integer of at least 100
 *
 * @example
 * for (const { title, filter } of queryClasses({ count: 100_000 })) {
 *   console.log(title, await db.countDocuments(filter))
 * }
 */
export function queryClasses({ count, seed = 1 }: { readonly count: number; readonly seed?: number }): QueryClass[] {
  const census = new Census({ count, seed })
  for (const tweet of generateTweets({ count, seed })) census.add(tweet)
  return queryClassesOf(census)
}

/**
 * Returns the query classes for tweets counted by the caller, who generates them anyway.
 * @param rank of 0, 1, 2 …: each gives other values of about the same frequency to equalities with one value
 */
export function queryClassesOf(census: Census, rank = 0): QueryClass[] {
  const queries = compose(census, new Users(census.seed).silentScreenName(), rank)
  return queryClassNames.map((name) => ({ name, ...queries[name] }))
}

const user = 'user.screen_name'
const hashtag = 'entities.hashtags.text'

function compose(census: Census, silentUser: string, rank: number): Record<QueryClassName, Query> {
  const { count } = census
  const rareUsers = census.users.nearestOf(5, 13)
  const [commonTag, otherTag] = census.hashtags.nearestOf(count / 300, 2)
  const city = census.locations.nearest(0.0095 * count, rank)
  const { from, to } = census.middle(200)
  const wide = census.middle(2_000)
  return {
    unique: { title: 'unique equality on a nested path', filter: { [user]: census.users.nearest(1, rank) } },
    absent: { title: 'absent value', filter: { [user]: silentUser } },
    ten: { title: '10 hits', filter: { 'user.id': census.userIds.nearest(10, rank) } },
    hundred: { title: '100 hits', filter: { [user]: census.users.nearest(100, rank) } },
    'third-of-percent': {
      title: '0.3 % hits',
      filter: { 'place.country_code': census.countries.nearest(0.0028 * count, rank) }
    },
    'one-percent': { title: '1 % hits', filter: { 'user.location': city } },
    'ten-percent': { title: '10 % hits', filter: { lang: 'es' } },
    half: { title: '50 % hits', filter: { lang: 'en' } },
    'and-three': {
      title: 'three-term AND',
      filter: { $and: [{ lang: 'en' }, { [hashtag]: census.verifiedTags.nearest(8, rank) }, { 'user.verified': true }] }
    },
    'or-three-rare': {
      title: 'OR of three rare',
      filter: { $or: rareUsers.slice(0, 3).map((name) => ({ [user]: name })) }
    },
    'and-not': {
      title: 'AND with NOT',
      filter: { [hashtag]: commonTag, lang: { $ne: 'en' }, 'user.verified': { $ne: true } }
    },
    in: { title: '$in of ten', filter: { [user]: { $in: rareUsers.slice(3) } } },
    array: { title: 'array containment', filter: { [hashtag]: census.hashtags.nearest(count / 700, rank) } },
    exists: { title: '$exists', filter: { coordinates: { $exists: true } } },
    'range-count': {
      title: 'range on a skewed number',
      filter: { retweet_count: { $gte: census.retweetsOfTop(0.002) } }
    },
    'range-time': { title: 'range on time, 200 hits', filter: { timestamp_ms: { $gte: from, $lt: to } } },
    'equality-and-range': {
      title: 'equality with range',
      filter: { lang: 'es', timestamp_ms: { $gte: wide.from, $lt: wide.to } }
    },
    nested: {
      title: '(A ∨ B) ∧ (C ∨ D) ∧ ¬E',
      filter: {
        $and: [
          { $or: [{ [hashtag]: commonTag }, { [hashtag]: otherTag }] },
          { $or: [{ lang: 'es' }, { 'user.location': city }] },
          { source: { $ne: 'Web app' } }
        ]
      }
    },
    newest: {
      title: 'newest 20 of a user',
      filter: { [user]: census.users.nearest(150, rank) },
      sort: { $natural: -1 },
      limit: 20
    },
    regex: { title: 'regex inside text', filter: { text: { $regex: languages[0]!.words[2_000] } } }
  }
}

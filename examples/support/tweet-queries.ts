/** Boolean queries on tweets, for values that the given tweets contain. */
import type { Document, Filter, FindOptions } from '../../src/index.ts'

export interface Question {
  readonly title: string
  readonly filter: Filter
  readonly options?: FindOptions
}

/** Counts the values that the queries use; works with generated and real tweets. */
export class TweetCensus {
  count = 0
  readonly #users = new Map<string, number>()
  readonly #languages = new Map<string, number>()
  readonly #hashtags = new Map<string, number>()
  readonly #sources = new Map<string, number>()
  readonly #words = new Map<string, number>()
  readonly #times: number[] = []

  add(tweet: Document): void {
    this.count++
    const { user, entities, lang, source, text, timestamp_ms: time } = tweet as Partial<TweetFields>
    tally(this.#users, user?.screen_name)
    tally(this.#languages, lang)
    tally(this.#sources, source)
    for (const hashtag of entities?.hashtags ?? []) tally(this.#hashtags, hashtag.text)
    if (this.count % 50 === 0) for (const word of wordsOf(text)) tally(this.#words, word)
    if (time !== undefined) this.#times.push(time)
  }

  /** Returns the queries, except for those whose values do not occur, such as hashtags in tweets without any. */
  questions(): readonly Question[] {
    return this.#allQuestions().filter(({ filter }) => isComplete(filter))
  }

  #allQuestions(): readonly Question[] {
    const user = 'user.screen_name'
    const tag = 'entities.hashtags.text'
    const verified = 'user.verified'
    const [common, second] = valuesNear(this.#hashtags, this.count / 150, 2)
    const [busy] = valuesNear(this.#users, this.count / 500, 1)
    const few = valuesNear(this.#users, 8, 13)
    const [language = 'en', otherLanguage = 'es'] = valuesNear(this.#languages, Number.POSITIVE_INFINITY, 2)
    const [source, otherSource] = valuesNear(this.#sources, Number.POSITIVE_INFINITY, 2)
    const [word = 'bloom'] = valuesNear(this.#words, Number.POSITIVE_INFINITY, 1)
    const [from, to] = this.#middleOfTime(this.count / 500)
    return [
      { title: 'equality on a nested path', filter: { [user]: busy } },
      { title: 'AND of three', filter: { lang: language, [tag]: common, [verified]: true } },
      { title: 'OR', filter: { $or: [{ [tag]: second }, { [user]: few[0] }, { [user]: few[1] }] } },
      { title: 'NOT', filter: { [tag]: common, lang: { $not: { $eq: language } } } },
      { title: '$ne', filter: { [user]: busy, is_quote_status: { $ne: false } } },
      { title: '$in of ten', filter: { [user]: { $in: few.slice(3) } } },
      { title: '$nin', filter: { [tag]: second, source: { $nin: [source, otherSource] } } },
      { title: '$exists', filter: { coordinates: { $exists: true }, lang: otherLanguage } },
      { title: 'range', filter: { [tag]: common, retweet_count: { $gte: 100 } } },
      { title: 'range on time', filter: { [user]: busy, timestamp_ms: { $gte: from, $lt: to } } },
      { title: 'array containment', filter: { [tag]: { $all: [common, second] } } },
      {
        title: '(A ∨ B) ∧ (C ∨ D) ∧ ¬E',
        filter: {
          $and: [
            { $or: [{ [tag]: common }, { [tag]: second }] },
            { $or: [{ lang: otherLanguage }, { [verified]: true }] }
          ],
          source: { $ne: source }
        }
      },
      { title: 'regex', filter: { [tag]: common, text: new RegExp(word, 'i') } },
      { title: 'newest 20 of a user', filter: { [user]: busy }, options: { sort: { $natural: -1 }, limit: 20 } },
      { title: 'absent value', filter: { [user]: 'nobody_of_that_name' } }
    ]
  }

  /** Returns the bounds of a time range in the middle of the tweets that contains the given share of them. */
  #middleOfTime(share: number): readonly [from: number, to: number] {
    const times = this.#times.sort((a, b) => a - b)
    const middle = Math.floor(times.length / 2)
    return [times[middle - Math.floor(share * 50)] ?? 0, times[middle + Math.floor(share * 50)] ?? 0]
  }
}

interface TweetFields {
  readonly user: { readonly screen_name?: string }
  readonly entities: { readonly hashtags?: readonly { readonly text: string }[] }
  readonly lang: string
  readonly source: string
  readonly text: string
  readonly timestamp_ms: number
}

function isComplete(value: unknown): boolean {
  if (value === undefined) return false
  return typeof value !== 'object' || value === null || Object.values(value).every(isComplete)
}

function tally(counts: Map<string, number>, value: string | undefined): void {
  if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1)
}

/** Returns the words of five or more letters, except for those in URLs. */
function wordsOf(text = ''): readonly string[] {
  return text.replace(/https?:\S+/g, '').match(/\p{L}{5,}/gu) ?? []
}

/** Returns the `limit` values whose counts are nearest to `count`; for Infinity, the most frequent ones. */
function valuesNear(counts: ReadonlyMap<string, number>, count: number, limit: number): readonly string[] {
  const distance = (n: number): number => (Number.isFinite(count) ? Math.abs(n - count) : -n)
  return [...counts]
    .sort((a, b) => distance(a[1]) - distance(b[1]))
    .slice(0, limit)
    .map(([value]) => value)
}

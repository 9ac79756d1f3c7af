/**
 * Words, hashtags and users of given tweets with their frequencies: tweets generated from them have the same
 * frequencies, but not the same texts.
 *
 * Invariant: memory is bounded; new values are ignored once there is no room.
 */
import type { Document } from '../model/types.ts'
import { type Random, Weighted } from './random.ts'
import type { TweetUser } from './users.ts'
import { inventedVocabulary, type People, type Speech, type Vocabulary } from './vocabulary.ts'

/** Maximum number of distinct words (of all languages), hashtags, and users, each. */
const maxDifferent = 200_000

type Counts = Map<string, number>

export class TweetSample {
  readonly #words = new Map<string, Counts>()
  readonly #speeches: Counts = new Map()
  readonly #hashtags: Counts = new Map()
  readonly #people: Counts = new Map()
  readonly #users = new Map<string, Partial<TweetUser>>()
  #differentWords = 0

  /**
   * Adds the parts of a tweet: `text` or `full_text`, `lang`, `entities.hashtags`, and `user`, as far as present.
   * @returns false without a text, which means it is not a tweet
   */
  add(tweet: Document): boolean {
    const text = stringOf(tweet.text) ?? stringOf(tweet.full_text)
    if (text === undefined) return false
    const code = stringOf(tweet.lang) ?? 'und'
    const tokens = text.split(/\s+/u)
    const words = tokens.filter((token) => token !== '' && !/^(?:[#@]|https?:)/u.test(token))
    if (words.length > 0) {
      count(this.#speeches, code)
      for (const word of words) this.#addWord(code, word)
    }
    for (const hashtag of hashtagsOf(tweet, tokens)) count(this.#hashtags, hashtag)
    if (isObject(tweet.user)) this.#addUser(tweet.user, code)
    return true
  }

  /** Returns the vocabulary; parts that the sample lacks are invented. */
  vocabulary(seed: number): Vocabulary {
    const invented = inventedVocabulary(seed)
    const speeches = new Map<string, Speech>()
    for (const [code, words] of this.#words) speeches.set(code, { code, separator: ' ', word: drawFrom(words) })
    const drawCode = drawFrom(this.#speeches)
    const drawSpeech = (random: Random): Speech => speeches.get(drawCode(random)) ?? invented.drawSpeech(random)
    return {
      people: this.#people.size === 0 ? invented.people : new SampledPeople(this.#people, this.#users, invented.people),
      drawSpeech: speeches.size === 0 ? invented.drawSpeech : drawSpeech,
      speechOf: speeches.size === 0 ? invented.speechOf : (code) => speeches.get(code) ?? [...speeches.values()][0]!,
      hashtag: this.#hashtags.size === 0 ? invented.hashtag : drawFrom(this.#hashtags)
    }
  }

  #addWord(code: string, word: string): void {
    let words = this.#words.get(code)
    if (words === undefined) {
      words = new Map()
      this.#words.set(code, words)
    }
    const known = words.get(word)
    if (known === undefined && this.#differentWords++ >= maxDifferent) return
    words.set(word, (known ?? 0) + 1)
  }

  #addUser(user: Document, code: string): void {
    const name = stringOf(user.screen_name)
    if (name === undefined || !count(this.#people, name)) return
    if (!this.#users.has(name)) this.#users.set(name, knownFields(user, code))
  }
}

/** The users of the sample; fields that it lacks are invented. */
class SampledPeople implements People {
  readonly #ranks: Weighted
  readonly #users: readonly Partial<TweetUser>[]
  readonly #invented: People

  constructor(counts: Counts, users: ReadonlyMap<string, Partial<TweetUser>>, invented: People) {
    const names = [...counts].sort(([, a], [, b]) => b - a)
    this.#ranks = new Weighted(names.map(([, times]) => times))
    this.#users = names.map(([name]) => users.get(name) ?? { screen_name: name })
    this.#invented = invented
  }

  drawRank(random: Random): number {
    return this.#ranks.draw(random)
  }

  copy(rank: number): TweetUser {
    return { ...this.#invented.copy(rank), ...this.#users[rank] }
  }

  mention(rank: number): TweetUser {
    return this.copy(rank)
  }
}

const fieldTypes = {
  name: 'string',
  screen_name: 'string',
  description: 'string',
  verified: 'boolean',
  followers_count: 'number',
  friends_count: 'number',
  statuses_count: 'number',
  default_profile: 'boolean',
  location: 'string',
  url: 'string'
} as const

function knownFields(user: Document, code: string): Partial<TweetUser> {
  const known: Record<string, unknown> = { lang: stringOf(user.lang) ?? code }
  // Larger ids were rounded when parsed.
  if (Number.isSafeInteger(user.id)) Object.assign(known, { id: user.id, id_str: String(user.id) })
  for (const [name, type] of Object.entries(fieldTypes)) if (typeof user[name] === type) known[name] = user[name]
  return known as Partial<TweetUser>
}

function hashtagsOf({ entities }: Document, tokens: readonly string[]): readonly string[] {
  const listed = isObject(entities) ? entities.hashtags : undefined
  if (!Array.isArray(listed)) return tokens.filter((token) => /^#./u.test(token)).map((token) => token.slice(1))
  return listed.flatMap((hashtag) => (isObject(hashtag) ? (stringOf(hashtag.text) ?? []) : []))
}

/** Returns false if there is no room for another value. */
function count(counts: Counts, what: string): boolean {
  const known = counts.get(what)
  if (known === undefined && counts.size >= maxDifferent) return false
  counts.set(what, (known ?? 0) + 1)
  return true
}

function drawFrom(counts: Counts): (random: Random) => string {
  const names = [...counts.keys()]
  const shares = new Weighted([...counts.values()])
  return (random) => names[shares.draw(random)]!
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function isObject(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

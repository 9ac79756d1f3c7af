/**
 * Generates tweet-like documents for tests, benchmarks and experiments: nested, sparse and skewed like real ones.
 *
 * Invariants:
 * 1. Tweet i is a function of (seed, i) alone, and of the sample if there is one: slices of a stream can be generated
 *    anywhere and fit together.
 * 2. `_id` is an integer below 2^53 that grows with i.
 */
import { type City, cities, cityRanks } from './cities.ts'
import { heavyTailed, Random, Weighted } from './random.ts'
import type { TweetSample } from './sample.ts'
import type { TweetUser } from './users.ts'
import { inventedVocabulary, type People, type Speech, type Vocabulary } from './vocabulary.ts'

export type Tweet = {
  _id: number
  id_str: string
  created_at: string
  timestamp_ms: number
  text: string
  source: string
  lang: string
  truncated: boolean
  user: TweetUser
  entities: TweetEntities
  place: TweetPlace | null
  in_reply_to_status_id: number | null
  in_reply_to_user_id: number | null
  is_quote_status: boolean
  retweet_count: number
  favorite_count: number
  favorited: boolean
  retweeted: boolean
  in_reply_to_screen_name?: string
  quoted_status_id?: number
  possibly_sensitive?: boolean
  coordinates?: { type: 'Point'; coordinates: [longitude: number, latitude: number] }
}

type Indices = [start: number, end: number]

export type TweetEntities = {
  hashtags: { text: string; indices: Indices }[]
  urls: { url: string; expanded_url: string; display_url: string; indices: Indices }[]
  user_mentions: { screen_name: string; name: string; id: number; id_str: string; indices: Indices }[]
}

export type TweetPlace = {
  id: string
  place_type: 'city'
  name: string
  full_name: string
  country_code: string
  country: string
}

export interface TweetOptions {
  /** Number of tweets. */
  readonly count: number
  /** Different seeds produce different streams; an integer. Default 1. */
  readonly seed?: number
  /** Index of the first tweet in the seed's stream. Default 0. */
  readonly start?: number
  /** Source of words, hashtags and users. Default: they are invented. */
  readonly sample?: TweetSample | undefined
}

const snowflakeEpoch = 1_288_834_974_657
const firstTimestamp = Date.UTC(2024, 0)
const millisecondsPerTweet = 250

const sources = [
  'Phone app',
  'Android app',
  'Web app',
  'Tablet app',
  'Scheduler',
  'Newsroom',
  'Bridge',
  'Car',
  'Fridge'
]
const sourceShares = new Weighted([38, 33, 15, 5, 4, 2.5, 1.5, 0.7, 0.3])
const domains = [
  'news.example',
  'video.example',
  'blog.example',
  'shop.example',
  'photos.example',
  'long-reads.example'
]

/**
 * @example
 * await db.insertMany(generateTweets({ count: 100_000, seed: 1 }))
 */
export function* generateTweets({
  count,
  seed = 1,
  start = 0,
  sample
}: TweetOptions): Generator<Tweet, void, undefined> {
  const random = new Random(seed)
  const vocabulary = sample?.vocabulary(seed) ?? inventedVocabulary(seed)
  for (let index = start; index < start + count; index++) {
    random.reset(seed, index)
    yield makeTweet(index, random, vocabulary)
  }
}

function makeTweet(index: number, random: Random, vocabulary: Vocabulary): Tweet {
  const { people } = vocabulary
  const timestamp = firstTimestamp + index * millisecondsPerTweet + random.below(millisecondsPerTweet)
  const id = (timestamp - snowflakeEpoch) * 4096 + random.below(4096)
  const user = people.copy(people.drawRank(random))
  const speech = random.chance(0.9) ? vocabulary.speechOf(user.lang) : vocabulary.drawSpeech(random)
  const isReply = random.chance(0.2)
  const composer = new Composer(random, speech)
  const mentions = isReply ? 1 : random.chance(0.2) ? 1 + random.below(2) : 0
  for (let i = 0; i < mentions; i++) composer.mention(people)
  composer.words(4 + random.below(12))
  if (random.chance(0.25)) for (let i = random.below(3); i >= 0; i--) composer.hashtag(vocabulary)
  if (random.chance(0.2)) composer.url()
  const repliedTo = isReply ? composer.entities.user_mentions[0] : undefined
  const isQuote = random.chance(0.04)
  const city = random.chance(0.04) ? cities[cityRanks.draw(random)]! : undefined
  const tweet: Tweet = {
    _id: id,
    id_str: String(id),
    created_at: new Date(timestamp).toISOString(),
    timestamp_ms: timestamp,
    text: composer.text,
    source: sources[sourceShares.draw(random)]!,
    lang: speech.code,
    truncated: false,
    user,
    entities: composer.entities,
    place: city === undefined ? null : placeOf(city),
    in_reply_to_status_id: repliedTo === undefined ? null : id - 4096 * (1 + random.below(2 ** 26)),
    in_reply_to_user_id: repliedTo === undefined ? null : repliedTo.id,
    is_quote_status: isQuote,
    retweet_count: heavyTailed(random),
    favorite_count: heavyTailed(random) + random.below(3),
    favorited: false,
    retweeted: false
  }
  if (repliedTo !== undefined) tweet.in_reply_to_screen_name = repliedTo.screen_name
  if (isQuote) tweet.quoted_status_id = id - 4096 * (1 + random.below(2 ** 28))
  if (composer.entities.urls.length > 0) tweet.possibly_sensitive = random.chance(0.03)
  if (city !== undefined && random.chance(0.4)) tweet.coordinates = { type: 'Point', coordinates: near(city, random) }
  return tweet
}

/** Composes the text, and its entities with their positions (in UTF-16 units). */
class Composer {
  text = ''
  readonly entities: TweetEntities = { hashtags: [], urls: [], user_mentions: [] }
  readonly #random: Random
  readonly #speech: Speech

  constructor(random: Random, speech: Speech) {
    this.#random = random
    this.#speech = speech
  }

  words(count: number): void {
    this.#space()
    for (let i = 0; i < count; i++) {
      if (i > 0) this.text += this.#speech.separator
      this.text += this.#speech.word(this.#random)
    }
  }

  mention(people: People): void {
    const { screen_name, name, id } = people.mention(people.drawRank(this.#random))
    const indices = this.#append(`@${screen_name}`)
    this.entities.user_mentions.push({ screen_name, name, id, id_str: String(id), indices })
  }

  hashtag(vocabulary: Vocabulary): void {
    const text = vocabulary.hashtag(this.#random)
    this.entities.hashtags.push({ text, indices: this.#append(`#${text}`) })
  }

  url(): void {
    const key = (2 ** 31 + this.#random.below(2 ** 31)).toString(36)
    const domain = this.#random.pick(domains)
    const url = `https://s.example/${key}`
    const display_url = `${domain}/${key}`
    this.entities.urls.push({ url, expanded_url: `https://${display_url}`, display_url, indices: this.#append(url) })
  }

  #space(): void {
    if (this.text !== '') this.text += ' '
  }

  #append(token: string): Indices {
    this.#space()
    const start = this.text.length
    this.text += token
    return [start, this.text.length]
  }
}

function placeOf(city: City): TweetPlace {
  return {
    id: `${city.countryCode}-${city.name.toLowerCase().replaceAll(' ', '-')}`,
    place_type: 'city',
    name: city.name,
    full_name: `${city.name}, ${city.country}`,
    country_code: city.countryCode,
    country: city.country
  }
}

/** Within a tenth of a degree. */
function near(city: City, random: Random): [longitude: number, latitude: number] {
  const jitter = (degrees: number): number => Math.round((degrees + (random.float() - 0.5) / 5) * 1e5) / 1e5
  return [jitter(city.longitude), jitter(city.latitude)]
}

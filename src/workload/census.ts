/** Counts values in generated tweets, to draw the parameters of queries from. */
import { PetalError } from '../model/errors.ts'
import { Tally } from './tally.ts'
import type { Tweet } from './tweets.ts'

/** With fewer tweets, there are no values of every requested frequency. */
export const leastTweets = 100

export class Census {
  /** Number of tweets, once all have been added. */
  readonly count: number
  readonly seed: number
  readonly users = new Tally<string>()
  readonly userIds = new Tally<number>()
  readonly hashtags = new Tally<string>()
  /** Hashtags in English tweets of verified users. */
  readonly verifiedTags = new Tally<string>()
  readonly locations = new Tally<string>()
  readonly countries = new Tally<string>()
  readonly #retweets: Uint32Array
  readonly #times: Float64Array
  #added = 0

  /** @throws PetalError BadValue when count is not an integer of at least 100 */
  constructor({ count, seed = 1 }: { readonly count: number; readonly seed?: number }) {
    if (!Number.isSafeInteger(count) || count < leastTweets) {
      throw new PetalError(
        'BadValue',
        `queryClasses: count must be an integer of at least ${leastTweets}, got ${count}`
      )
    }
    this.count = count
    this.seed = seed
    this.#retweets = new Uint32Array(count)
    this.#times = new Float64Array(count)
  }

  /** REQUIRES: called `count` times, with the tweets in order. */
  add(tweet: Tweet): void {
    this.users.add(tweet.user.screen_name)
    this.userIds.add(tweet.user.id)
    const isVerifiedEnglish = tweet.user.verified && tweet.lang === 'en'
    for (const { text } of tweet.entities.hashtags) {
      this.hashtags.add(text)
      if (isVerifiedEnglish) this.verifiedTags.add(text)
    }
    if (tweet.user.location !== undefined) this.locations.add(tweet.user.location)
    if (tweet.place !== null) this.countries.add(tweet.place.country_code)
    this.#retweets[this.#added] = tweet.retweet_count
    this.#times[this.#added] = tweet.timestamp_ms
    this.#added++
  }

  /** Number of tweets added so far. */
  get added(): number {
    return this.#added
  }

  /** Returns the retweet count that this share of tweets reaches. */
  retweetsOfTop(share: number): number {
    return this.#retweets.slice().sort()[Math.floor(this.count * (1 - share))]!
  }

  /** Returns the half-open time range of that many tweets in the middle of the stream. */
  middle(tweets: number): { from: number; to: number } {
    const width = Math.min(tweets, this.count >> 1)
    const first = (this.count - width) >> 1
    return { from: this.#times[first]!, to: this.#times[first + width]! }
  }
}

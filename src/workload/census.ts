/** What occurs how often in generated tweets: the parameters of queries are drawn from it. */
import { PetalError } from '../model/errors.ts'
import { Tally } from './tally.ts'
import type { Tweet } from './tweets.ts'

/** Fewer have no values of every frequency that is asked for. */
export const leastTweets = 100

export class Census {
  /** Tweets there are, once all are added. */
  readonly count: number
  readonly seed: number
  readonly users = new Tally<string>()
  readonly userIds = new Tally<number>()
  readonly hashtags = new Tally<string>()
  /** Hashtags of English tweets of verified users. */
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

  /** REQUIRES: tweets are added in their order, `count` of them. */
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

  /** Tweets added so far. */
  get added(): number {
    return this.#added
  }

  /** The count that this share of tweets reaches. */
  retweetsOfTop(share: number): number {
    return this.#retweets.slice().sort()[Math.floor(this.count * (1 - share))]!
  }

  /** Times around that many tweets in the middle of the stream, half open. */
  middle(tweets: number): { from: number; to: number } {
    const width = Math.min(tweets, this.count >> 1)
    const first = (this.count - width) >> 1
    return { from: this.#times[first]!, to: this.#times[first + width]! }
  }
}

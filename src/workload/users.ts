/**
 * The population of users. Everything about a user is a function of seed and rank, and so is the same in all of the
 * user's tweets, anywhere in the stream.
 */
import { cities, cityRanks } from './cities.ts'
import { languageShares, languages, wordRanks } from './languages.ts'
import { heavyTailed, Random, zipf } from './random.ts'

// A type alias, not an interface: only aliases are assignable to Document.
export type TweetUser = {
  id: number
  id_str: string
  name: string
  screen_name: string
  description: string | null
  verified: boolean
  followers_count: number
  friends_count: number
  statuses_count: number
  created_at: string
  lang: string
  default_profile: boolean
  location?: string
  url?: string
}

export interface UserMention {
  readonly screen_name: string
  readonly name: string
  readonly id: number
}

const population = 2 ** 18
/** The most active user writes about 1 in 430 tweets. */
const ranks = zipf(population, 50)
/** Two thirds of all tweets are by users below this rank; only those users are cached. */
const cachedRanks = 2 ** 14
/** Random streams from here on belong to users, those below to tweets. */
const userStreams = 2 ** 40
const firstAccount = Date.UTC(2007, 0)
const lastAccount = Date.UTC(2023, 0)

export class Users {
  readonly #random: Random
  readonly #seed: number
  readonly #cache: (TweetUser | undefined)[] = new Array(cachedRanks).fill(undefined)

  constructor(seed: number) {
    this.#seed = seed
    this.#random = new Random(seed)
  }

  /** Draws a rank below the population, preferring active users. */
  drawRank(random: Random): number {
    return ranks.draw(random)
  }

  /** Returns a copy, which the caller may change. */
  copy(rank: number): TweetUser {
    return { ...this.#template(rank) }
  }

  mention(rank: number): UserMention {
    return this.#template(rank)
  }

  /** Returns the screen name of a user who never writes and is never mentioned. */
  silentScreenName(): string {
    return this.#make(population).screen_name
  }

  #template(rank: number): TweetUser {
    if (rank >= cachedRanks) return this.#make(rank)
    this.#cache[rank] ??= this.#make(rank)
    return this.#cache[rank]
  }

  #make(rank: number): TweetUser {
    const random = this.#random
    random.reset(this.#seed, userStreams + rank)
    const language = languages[languageShares.draw(random)]!
    const word = (): string => language.words[wordRanks.draw(random)]!
    // Multiplication by an odd number permutes the 32-bit integers: ids differ when ranks do.
    const id = 10_000 + (Math.imul(rank, 0x9e3779b1) >>> 0)
    const handle = languages[0]!.words[random.below(2_000)]!
    const user: TweetUser = {
      id,
      id_str: String(id),
      name: `${capitalise(word())} ${capitalise(word())}`,
      // No word contains a digit: screen names differ when ranks do.
      screen_name: `${handle}${rank}`,
      description: random.chance(0.2)
        ? null
        : Array.from({ length: 4 + random.below(8) }, word).join(language.separator),
      verified: random.chance(rank < 2_000 ? 0.2 : 0.01),
      followers_count: heavyTailed(random) * 4 + random.below(200),
      friends_count: heavyTailed(random) + random.below(500),
      statuses_count: heavyTailed(random) * 8 + random.below(5_000),
      created_at: new Date(firstAccount + random.below(65_536) * ((lastAccount - firstAccount) / 65_536)).toISOString(),
      lang: language.code,
      default_profile: random.chance(0.4)
    }
    if (random.chance(0.7)) user.location = cities[cityRanks.draw(random)]!.name
    if (random.chance(0.25)) user.url = `https://${handle}${rank}.example/`
    return user
  }
}

function capitalise(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/**
 * The vocabulary of tweets: words by language, hashtags, users. This one is invented; sample.ts draws one from given
 * tweets.
 */
import { languageShares, languages, wordRanks } from './languages.ts'
import { type Random, zipf } from './random.ts'
import { type TweetUser, type UserMention, Users } from './users.ts'

export interface Speech {
  readonly code: string
  /** Separator between words. */
  readonly separator: string
  word(random: Random): string
}

export interface People {
  /** Draws a rank below the population, preferring active users. */
  drawRank(random: Random): number
  /** Returns a copy, which the caller may change. */
  copy(rank: number): TweetUser
  mention(rank: number): UserMention
}

export interface Vocabulary {
  readonly people: People
  /** Draws a language by its share of tweets. */
  drawSpeech(random: Random): Speech
  /** Returns some language if the code is unknown. */
  speechOf(code: string): Speech
  hashtag(random: Random): string
}

const hashtagRanks = zipf(20_000, 15)

const speeches: readonly Speech[] = languages.map(({ code, separator, words }) => ({
  code,
  separator,
  word: (random) => words[wordRanks.draw(random)]!
}))
const speechesByCode = new Map(speeches.map((speech) => [speech.code, speech]))

export function inventedVocabulary(seed: number): Vocabulary {
  return {
    people: new Users(seed),
    drawSpeech: (random) => speeches[languageShares.draw(random)]!,
    speechOf: (code) => speechesByCode.get(code) ?? speeches[0]!,
    hashtag: (random) => hashtagOf(hashtagRanks.draw(random))
  }
}

/** Distinct for distinct ranks: the first 5,000 are single words, the others two words. */
function hashtagOf(rank: number): string {
  const words = languages[0]!.words
  return rank < 5_000 ? words[rank + 500]! : `${words[rank % 5_000]}_${words[Math.floor(rank / 5_000)]}`
}

/** What tweets are made of: words by language, hashtags, people. Here the invented ones; drawn from tweets: sample.ts. */
import { languageShares, languages, wordRanks } from './languages.ts'
import { type Random, zipf } from './random.ts'
import { type TweetUser, type UserMention, Users } from './users.ts'

export interface Speech {
  readonly code: string
  /** Between words. */
  readonly separator: string
  word(random: Random): string
}

export interface People {
  /** A rank below the population, active users more often. */
  drawRank(random: Random): number
  /** A fresh copy: the caller may change it. */
  copy(rank: number): TweetUser
  mention(rank: number): UserMention
}

export interface Vocabulary {
  readonly people: People
  /** By share of tweets. */
  drawSpeech(random: Random): Speech
  /** Some language where the code is unknown. */
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

/** Different for different ranks: the first 5,000 words alone, then two words. */
function hashtagOf(rank: number): string {
  const words = languages[0]!.words
  return rank < 5_000 ? words[rank + 500]! : `${words[rank % 5_000]}_${words[Math.floor(rank / 5_000)]}`
}

/**
 * Languages with invented words, made of syllables that resemble the language's own, also in their UTF-8 length. The
 * vocabulary is the same for every seed.
 */
import { Random, Weighted, zipf } from './random.ts'

export interface Language {
  readonly code: string
  /** Separator between words. */
  readonly separator: string
  /** Most frequent first. */
  readonly words: readonly string[]
}

interface LanguageSpec {
  readonly code: string
  readonly share: number
  readonly separator?: string
  readonly syllables: string
}

const specs: readonly LanguageSpec[] = [
  { code: 'en', share: 47, syllables: 'the an to in ing er is it on at ly ment con re be for st or al th wh ow ea ck' },
  {
    code: 'ja',
    share: 15,
    separator: '',
    syllables: 'の に は た を が で て と し れ さ い う か な ら り る こ も す'
  },
  { code: 'es', share: 10.5, syllables: 'de la que el en los se do ci ón es ta ra me no ña un por con ar te lo mos' },
  { code: 'pt', share: 7, syllables: 'ção não de que um o da em os se na por mais co as dos te ra ri lh nh vo' },
  { code: 'ar', share: 5, syllables: 'ال من في ما لا ان هو كا نا يا بر حب مع كل سا را' },
  { code: 'id', share: 4, syllables: 'ang yang di ke an nya me ber ter ka lah pun sa ku mu ti da ri ga' },
  { code: 'tr', share: 3, syllables: 'bir ve da ki ler lar ın iş yor mu şe ğı çok ne ben sen ol ma' },
  { code: 'fr', share: 2.5, syllables: 'le de un à être et en que pour ce dans ai tion vous pas eau jou ré' },
  { code: 'ko', share: 2, syllables: '이 다 는 에 가 을 하 고 의 지 도 한 그 나 사 로 기 아' },
  { code: 'de', share: 1.6, syllables: 'der die und sch ein ich zu den ge ver ung mit auf keit für er ö be' },
  { code: 'ru', share: 1.4, syllables: 'не на то по ко ка ни но ра ва ли го ть ла ро ста же вы' },
  { code: 'und', share: 1, syllables: 'ha ho lo ol xd ok ya eh oh uh mm wow' }
]

const wordsPerLanguage = 6_000

export const languages: readonly Language[] = specs.map((spec, index) => ({
  code: spec.code,
  separator: spec.separator ?? ' ',
  words: inventWords(spec.syllables.split(' '), new Random(0x1e57, index))
}))

/** By share of tweets. */
export const languageShares = new Weighted(specs.map((spec) => spec.share))

/** Ranks of words, for any language. */
export const wordRanks = zipf(wordsPerLanguage, 3)

/** Returns distinct words, the short ones first. */
function inventWords(syllables: readonly string[], random: Random): string[] {
  const words = new Set<string>()
  while (words.size < wordsPerLanguage) {
    const length =
      words.size < syllables.length / 2 ? 1 : words.size < 100 ? 2 : 2 + random.below(words.size < 900 ? 2 : 4)
    let word = ''
    for (let i = 0; i < length; i++) word += random.pick(syllables)
    words.add(word)
  }
  return [...words]
}

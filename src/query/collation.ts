/**
 * The option `collation`: compares strings by the rules of a language. It supports those of MongoDB's options that
 * ECMAScript's Intl.Collator has, and rejects the others, whose results would differ.
 *
 * https://www.mongodb.com/docs/manual/reference/collation/ and ECMA-402, Collator objects
 */
import type { StringOrder } from '../model/compare.ts'
import { PetalError } from '../model/errors.ts'
import { isPlainObject } from '../model/types.ts'

/** How strings compare if not by code point: which are equal, and which comes first. */
export interface Collation {
  /** A language, `en`, `sv`, `de_AT`, `de@collation=phonebook`, or `simple`: by code point. */
  readonly locale: string
  /** 1: only letters matter; 2: accents, too; 3, the default: also upper and lower case. */
  readonly strength?: 1 | 2 | 3 | undefined
  /** With `strength: 1`: case matters, accents do not. Default false. */
  readonly caseLevel?: boolean | undefined
  /** Which case comes first when only case differs. Default `'off'`: the language's own rule. */
  readonly caseFirst?: 'upper' | 'lower' | 'off' | undefined
  /** Digits compare as numbers: `a9` before `a10`. Default false. */
  readonly numericOrdering?: boolean | undefined
  /** `'shifted'`: spaces and punctuation do not matter. Default `'non-ignorable'`. */
  readonly alternate?: 'non-ignorable' | 'shifted' | undefined
  /** What `'shifted'` applies to. Default `'punct'`. */
  readonly maxVariable?: 'punct' | undefined
  /** Canonically equivalent strings are equal, whatever this says. */
  readonly normalization?: boolean | undefined
  readonly backwards?: false | undefined
}

const known: Readonly<Record<keyof Collation, readonly unknown[] | 'text'>> = {
  locale: 'text',
  strength: [1, 2, 3],
  caseLevel: [true, false],
  caseFirst: ['upper', 'lower', 'off'],
  numericOrdering: [true, false],
  alternate: ['non-ignorable', 'shifted'],
  maxVariable: ['punct'],
  normalization: [true, false],
  backwards: [false]
}
/** Values of MongoDB's options that Intl.Collator lacks. */
const unsupported: Readonly<Partial<Record<keyof Collation, readonly unknown[]>>> = {
  strength: [4, 5],
  maxVariable: ['space'],
  backwards: [true]
}
/** Names that BCP 47 abbreviates. */
const variants: Readonly<Record<string, string>> = {
  phonebook: 'phonebk',
  traditional: 'trad',
  dictionary: 'dict',
  gb2312han: 'gb2312'
}
const maxKept = 16

/** Cached: creating a collator takes as long as a thousand comparisons. */
const kept = new Map<string, StringOrder>()

/**
 * @returns undefined for the order of code points
 * @throws PetalError BadValue or FailedToParse naming the option; CommandNotSupported for an unsupported one
 * @example
 * const order = parseCollation({ locale: 'en', strength: 2 })
 * order?.('Zoë', 'zoë') === 0
 */
export function parseCollation(option: unknown): StringOrder | undefined {
  if (option === undefined || option === null) return undefined
  if (!isPlainObject(option)) throw refusal('BadValue', 'collation', `must be an object, got ${shown(option)}`)
  const options = Object.entries(option).filter(([, value]) => value !== undefined)
  for (const [name, value] of options) check(name, value)
  const collation = Object.fromEntries(options) as Partial<Collation>
  const { locale } = collation
  if (locale === undefined) throw refusal('FailedToParse', 'collation', 'needs a locale')
  if (locale === 'simple') {
    if (options.length === 1) return undefined
    throw refusal('BadValue', 'collation.locale', "'simple' is code-point order and takes no other options")
  }
  const name = JSON.stringify(options)
  const order = kept.get(name) ?? collatorOf({ ...collation, locale }).compare
  kept.set(name, order)
  const [oldest] = kept.keys()
  if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest)
  return order
}

function check(name: string, value: unknown): void {
  if (!Object.hasOwn(known, name)) throw refusal('FailedToParse', `collation.${name}`, 'is not a collation option')
  const option = name as keyof Collation
  if (unsupported[option]?.includes(value) === true) {
    throw refusal('CommandNotSupported', `collation.${name}`, `does not support ${shown(value)}`)
  }
  const values = known[option]
  if (values === 'text' ? typeof value === 'string' : values.includes(value)) return
  const wanted = values === 'text' ? 'the name of a language' : `one of ${values.map(shown).join(', ')}`
  throw refusal('BadValue', `collation.${name}`, `must be ${wanted}, got ${shown(value)}`)
}

function collatorOf({ locale, strength = 3, caseLevel = false, ...collation }: Collation): Intl.Collator {
  if (caseLevel && strength === 2) {
    throw refusal('CommandNotSupported', 'collation.caseLevel', 'does not support true with strength 2')
  }
  const { caseFirst = 'off', numericOrdering = false, alternate } = collation
  const sensitivity = strength === 3 ? 'variant' : strength === 2 ? 'accent' : caseLevel ? 'case' : 'base'
  return new Intl.Collator(tagOf(locale), {
    sensitivity,
    numeric: numericOrdering,
    caseFirst: caseFirst === 'off' ? 'false' : caseFirst,
    ignorePunctuation: alternate === 'shifted'
  })
}

/** Converts a locale to a BCP 47 tag. */
function tagOf(locale: string): string {
  const [language = '', keyword] = locale.split('@')
  const variant = keyword?.startsWith('collation=') ? keyword.slice('collation='.length) : keyword
  const tag = `${language.replaceAll('_', '-')}${variant === undefined ? '' : `-u-co-${variants[variant] ?? variant}`}`
  const found = supported(tag)
  const isFound =
    found !== undefined && (variant === undefined || new Intl.Collator(tag).resolvedOptions().locale === found)
  if (isFound) return tag
  throw refusal('BadValue', 'collation.locale', `'${locale}' is not supported by this Node.js`)
}

function supported(tag: string): string | undefined {
  try {
    return Intl.Collator.supportedLocalesOf([tag], { localeMatcher: 'lookup' })[0]
  } catch {
    return undefined
  }
}

function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

function refusal(code: 'BadValue' | 'FailedToParse' | 'CommandNotSupported', option: string, what: string): PetalError {
  return new PetalError(code, `${option} ${what}`, { details: { option } })
}

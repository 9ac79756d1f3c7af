/**
 * Rejects unknown options: one is either misspelt or meant for another database, and ignoring it would silently do
 * something other than what the caller asked for.
 */
import { PetalError } from '../model/errors.ts'

/** The keys of an interface; `satisfies Known<…>` makes the compiler keep the two in sync. */
export type Known<Options> = Readonly<Record<keyof Options, true>>

type KnownOptions = Readonly<Record<string, true>>

/** Driver options that have no meaning within one process: accepted, and ignored by calls that do not know them. */
const ignored: KnownOptions = {
  allowDiskUse: true,
  batchSize: true,
  bypassDocumentValidation: true,
  comment: true,
  maxTimeMS: true,
  noCursorTimeout: true,
  readConcern: true,
  readPreference: true,
  writeConcern: true
}

/** Current and former names for `returnDocument`. */
const returning = ['new', 'returnOriginal', 'returnNewDocument']
const maxMisspelling = 2

/**
 * Rejects unknown options; one whose value is undefined counts as absent. Allocates nothing, because every find calls
 * this.
 * @throws PetalError BadValue naming the call and the option
 */
export function assertKnown(call: string, options: object, known: KnownOptions): void {
  for (const option in options) {
    if (known[option] === true) continue
    const value: unknown = (options as Readonly<Record<string, unknown>>)[option]
    if (value === undefined || ignored[option] === true || !Object.hasOwn(options, option)) continue
    if (option === 'session' && value === null) continue
    throw unknownOption(call, option, known)
  }
}

/**
 * Like assertKnown(), for the option `name` if its value is an object; other values are not checked.
 * @throws PetalError BadValue
 */
export function assertKnownWithin(call: string, name: string, value: unknown, known: KnownOptions): void {
  if (typeof value !== 'object' || value === null) return
  for (const [option, given] of Object.entries(value)) {
    if (known[option] !== true && given !== undefined) throw unknownOption(call, option, known, `${name}.`)
  }
}

function unknownOption(call: string, option: string, known: KnownOptions, within = ''): PetalError {
  const name = `${within}${option}`
  return new PetalError('BadValue', `${call} has no option '${name}'${advice(option, known, within)}`, {
    details: { option: name }
  })
}

function advice(option: string, known: KnownOptions, within: string): string {
  if (returning.includes(option) && known.returnDocument === true) return '; use returnDocument'
  if (option === 'session') return '; there are no sessions, but db.withTransaction()'
  const meant = Object.keys(known).find((each) => each.toLowerCase() === option.toLowerCase()) ?? nearest(option, known)
  return meant === undefined ? '' : `; did you mean '${within}${meant}'?`
}

/**
 * The distance limit is half the option's length, so that three-letter names sharing one letter do not count as
 * similar.
 */
function nearest(option: string, known: KnownOptions): string | undefined {
  const most = Math.min(maxMisspelling, Math.floor(option.length / 2))
  return Object.keys(known)
    .map((each) => ({ each, distance: editDistance(option, each) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance)[0]?.each
}

/** Levenshtein distance. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)
      next[j] = Math.min(replaced, row[j]! + 1, next[j - 1]! + 1)
    }
    row = next
  }
  return row[to.length]!
}

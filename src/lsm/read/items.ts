/**
 * The items that iterators create from entries: buffers for abstract-level to decode, or strings if it would decode
 * them to strings anyway. That saves a buffer each, and copying values out of memtables.
 *
 * abstract-level's text decoders call `toString('utf8')` on their input, which on a string returns the string itself.
 */
import { AbstractIterator } from 'abstract-level'
import type { ItemOf } from './item-reader.ts'

export type Item = Buffer | string
export type Entry = [key: Item | undefined, value: Item | undefined]

/** Symbols under which abstract-level stores the requested encodings. Missing from its declared types. */
const { keyEncoding, valueEncoding } = AbstractIterator as unknown as Record<'keyEncoding' | 'valueEncoding', symbol>

/** Names of abstract-level's own text encodings, transcoded to buffers. */
const textEncodings: readonly unknown[] = ['utf8+buffer', 'json+buffer']

const key: ItemOf<Item> = (scan) => scan.key()
const keyText: ItemOf<Item> = (scan) => scan.keyText()
const value: ItemOf<Item> = (scan) => scan.value()
const valueText: ItemOf<Item> = (scan) => scan.valueText()

export function itemOfKey(options: object): ItemOf<Item> {
  return isText(options, keyEncoding) ? keyText : key
}

export function itemOfValue(options: object): ItemOf<Item> {
  return isText(options, valueEncoding) ? valueText : value
}

/** One function per case: a common one would check the options for every entry. */
export function itemOfEntry(options: {
  readonly keys?: boolean | undefined
  readonly values?: boolean | undefined
}): ItemOf<Entry> {
  const hasKeyText = isText(options, keyEncoding)
  const hasValueText = isText(options, valueEncoding)
  if (options.keys === false && options.values === false) return () => [undefined, undefined]
  if (options.keys === false) {
    return hasValueText ? (scan) => [undefined, scan.valueText()] : (scan) => [undefined, scan.value()]
  }
  if (options.values === false) {
    return hasKeyText ? (scan) => [scan.keyText(), undefined] : (scan) => [scan.key(), undefined]
  }
  if (hasKeyText) {
    return hasValueText ? (scan) => [scan.keyText(), scan.valueText()] : (scan) => [scan.keyText(), scan.value()]
  }
  return hasValueText ? (scan) => [scan.key(), scan.valueText()] : (scan) => [scan.key(), scan.value()]
}

function isText(options: object, encoding: symbol): boolean {
  const { name } = (options as Record<symbol, { readonly name?: unknown } | undefined>)[encoding] ?? {}
  return textEncodings.includes(name)
}

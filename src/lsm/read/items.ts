/**
 * What iterators make of an entry: buffers, which abstract-level decodes, or strings where it would make strings of
 * them anyway. That saves a buffer each, and a copy of what is in a memtable.
 *
 * abstract-level's decoders of text call `toString('utf8')` on what they get. A string answers with itself.
 */
import { AbstractIterator } from 'abstract-level'
import type { ItemOf } from './item-reader.ts'

export type Item = Buffer | string
export type Entry = [key: Item | undefined, value: Item | undefined]

/** The encodings that were asked for, under symbols. The declared types lack them. */
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

/** Written out case by case: one function for all would look at the options for every entry. */
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

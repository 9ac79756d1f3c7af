/**
 * The values of a document that is sampled, each with its hash and the place of its text: what a scan otherwise forgets.
 *
 * An entry, as ../../tune/pair-list.ts reads it: hash (u32 lo, hi), the node's number, tag, and the double, or of a text
 * its first byte in the input and its bytes there; its UTF-16 units, and the form of the key. As many bytes as units: ASCII
 * without escapes.
 */
import { MAX_TRACED, NODE_BYTES, NODES, TRACE, TRACE_BYTES } from './layout'

export const NODE: usize = 8
export const TAG: usize = 12
export const VALUE: usize = 16
export const TEXT: usize = 16
export const TEXT_BYTES: usize = 20
export const TEXT_UNITS: usize = 24
export const FORM: usize = 28

export const DOUBLE: u32 = 0
const ASCII: u32 = 1
const JSON_TEXT: u32 = 2

let isOn: bool = false
let count: u32 = 0
/** Entry of an array's size, which stands before its elements and is known after them; 0 for none. */
let reserved: usize = 0

export function beginTrace(value: bool): void {
  isOn = value
  count = 0
  reserved = 0
}

// @ts-ignore: decorator
@inline
export function isTracing(): bool {
  return isOn
}

/** Entries; a document of more is refused. */
export function tracedCount(): u32 {
  return min<u32>(count, MAX_TRACED)
}

/** Keeps the next entry free. @returns its address, 0 where nothing is traced */
export function reserveTrace(): usize {
  return isOn ? nextEntry() : 0
}

/** The value traced next is that of a reserved entry. */
// @ts-ignore: decorator
@inline
export function fillReserved(entry: usize): void {
  reserved = entry
}

export function traceDouble(hash: u64, node: usize, tag: u32, value: f64): void {
  const entry = addEntry(hash, node, tag)
  store<f64>(entry, value, VALUE)
  store<u32>(entry, 0, TEXT_UNITS)
  store<u32>(entry, DOUBLE, FORM)
}

/** @param text its first byte in the input */
export function traceText(hash: u64, node: usize, tag: u32, text: usize, bytes: u32, units: u32): void {
  const entry = addEntry(hash, node, tag)
  store<u32>(entry, <u32>text, TEXT)
  store<u32>(entry, bytes, TEXT_BYTES)
  store<u32>(entry, units, TEXT_UNITS)
  store<u32>(entry, bytes == units ? ASCII : JSON_TEXT, FORM)
}

function addEntry(hash: u64, node: usize, tag: u32): usize {
  let entry = reserved
  if (entry == 0) entry = nextEntry()
  reserved = 0
  store<u64>(entry, hash)
  store<u32>(entry, <u32>((node - NODES) / NODE_BYTES), NODE)
  store<u32>(entry, tag, TAG)
  return entry
}

/** Those of a document that is going to be refused share the place behind the last. */
function nextEntry(): usize {
  const place = min<u32>(count++, MAX_TRACED)
  return TRACE + <usize>place * TRACE_BYTES
}

/**
 * The values of a document that is sampled, each with its hash and the place of its text: what a scan otherwise forgets.
 *
 * An entry: hash (u32 lo, hi), node, tag, and the double, or of a text its first byte in the input, its bytes there
 * and its UTF-16 units. As many bytes as units: ASCII without escapes.
 */
import { MAX_TRACED, TRACE, TRACE_BYTES } from './layout'

export const TRACE_NODE: usize = 8
export const TRACE_TAG: usize = 12
export const TRACE_VALUE: usize = 16
export const TRACE_TEXT: usize = 16
export const TRACE_TEXT_BYTES: usize = 20
export const TRACE_TEXT_UNITS: usize = 24

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
  store<f64>(addEntry(hash, node, tag), value, TRACE_VALUE)
}

/** @param text its first byte in the input */
export function traceText(hash: u64, node: usize, tag: u32, text: usize, bytes: u32, units: u32): void {
  const entry = addEntry(hash, node, tag)
  store<u32>(entry, <u32>text, TRACE_TEXT)
  store<u32>(entry, bytes, TRACE_TEXT_BYTES)
  store<u32>(entry, units, TRACE_TEXT_UNITS)
}

function addEntry(hash: u64, node: usize, tag: u32): usize {
  let entry = reserved
  if (entry == 0) entry = nextEntry()
  reserved = 0
  store<u64>(entry, hash)
  store<u32>(entry, <u32>node, TRACE_NODE)
  store<u32>(entry, tag, TRACE_TAG)
  return entry
}

/** Those of a document that is going to be refused share the place behind the last. */
function nextEntry(): usize {
  const place = min<u32>(count++, MAX_TRACED)
  return TRACE + <usize>place * TRACE_BYTES
}

/**
 * Traces the values of a sampled document, each with its hash and the location of its text, which a scan otherwise
 * discards.
 *
 * An entry, which ../../tune/pair-list.ts reads: hash (u32 lo, hi), node number, tag, then the double or, for a text,
 * its address in the input and its bytes there; its number of UTF-16 units, and the form of the key. As many bytes as
 * units means ASCII without escapes.
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
/** Entry of an array's size, which precedes its elements but is known after them; 0 for none. */
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

/** Number of entries; a document with more is rejected. */
export function tracedCount(): u32 {
  return min<u32>(count, MAX_TRACED)
}

/** Reserves the next entry. @returns its address, 0 when not tracing */
export function reserveTrace(): usize {
  return isOn ? nextEntry() : 0
}

/** Makes the next traced value fill a reserved entry. */
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

/** @param text its address in the input */
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

/** Entries beyond the limit, of a document that will be rejected, share the last place. */
function nextEntry(): usize {
  const place = min<u32>(count++, MAX_TRACED)
  return TRACE + <usize>place * TRACE_BYTES
}

/**
 * The paths that documents may have, as a tree of nodes, and the lookup of a key's node.
 *
 * Keys are predicted: a node remembers which key followed it last time, and a container which key it began with, so
 * that a document like the one before it is recognised by one comparison of eight bytes per key.
 *
 * Invariants:
 * 1. Only JavaScript adds nodes, and none for a key that JSON escapes, that is all digits, has a dot or is `__proto__`:
 *    such keys are unknown here, and their documents are added as objects.
 * 2. The first node matches no key. It stands for "none" wherever a node is remembered.
 */
import { DATE_FACT_BYTES, DATE_FACTS, KEYS, NODE_BYTES, NODE_TABLE, NODE_TABLE_MASK, NODES } from './layout'

export const SEED_LO: usize = 0
export const SEED_HI: usize = 4
/** The document to which `TYPES`, a bit per type met, applies. */
export const DOCUMENT: usize = 8
export const TYPES: usize = 12
/** The last object that had this key. */
export const OBJECT: usize = 16
/** The node last met after this one, in the same object. */
export const NEXT: usize = 20
/** The node last met first below this one. */
export const FIRST: usize = 24
export const PARENT: usize = 28
/** The key with its quote and colon: its first eight bytes and their mask, its length, and its address. */
export const KEY_START: usize = 32
export const KEY_MASK: usize = 40
export const KEY_LENGTH: usize = 48
export const KEY: usize = 52
/** What is known about the pairs (node, null), (node, false), (node, true), (node, size 0): see pairs.ts. */
export const CONSTANTS: usize = 56
/** By type & 7: slots of TYPE and EXISTS, u32 each, all ones for none. Written by JavaScript. */
export const FACTS: usize = 64
/**
 * The slot for irregular documents, of a node directly below the root, in place of the slots of a type that JSON lacks.
 */
export const IRREGULAR: usize = FACTS + 48
/** In the same place: the columns of the path's numbers and texts, u16 each, all ones for none. */
export const NUMBER_COLUMN: usize = FACTS + 52
export const TEXT_COLUMN: usize = FACTS + 54

/** In dateFacts(), after the slots of TYPE and EXISTS: the column of the path's dates, u16, all ones for none. */
const DATE_COLUMN: usize = 8

const QUOTE: v128 = i8x16.splat(0x22)
const BACKSLASH: v128 = i8x16.splat(0x5c)
const SPACE: v128 = i8x16.splat(0x20)

/** Address of the slots of the date type, u32 each, laid out as those of other types in the node. */
// @ts-ignore: decorator
@inline
export function dateFacts(node: usize): usize {
  return DATE_FACTS + ((node - NODES) / NODE_BYTES) * DATE_FACT_BYTES
}

// @ts-ignore: decorator
@inline
export function dateColumn(node: usize): usize {
  return dateFacts(node) + DATE_COLUMN
}

let nodeCount: u32 = 0
/** Numbers the objects; a document has the number of its outermost object. */
let serial: u32 = 0
let idNode: usize = 0

/** Returns a new document number, which no node holds. */
export function documentStamp(): u32 {
  if (serial > 0xf0000000) {
    resetStamps()
    serial = 0
  }
  return ++serial
}

/** Returns the number of another object of the same document. */
// @ts-ignore: decorator
@inline
export function objectStamp(): u32 {
  return ++serial
}

export function setIdNode(node: usize): void {
  idNode = node
}

/** The node whose text may be an ObjectId; 0 for none. */
// @ts-ignore: decorator
@inline
export function nodeOfId(): usize {
  return idNode
}

/** Forgets every node except "none" and the root. */
export function resetNodes(): void {
  memory.fill(NODES, 0, NODE_BYTES * 2)
  memory.fill(NODE_TABLE, 0, (<usize>NODE_TABLE_MASK + 1) << 2)
  nodeCount = 0
  const none = addNode(0, KEYS, 0, 0, 0)
  // Never matches: no byte masked with 0 is 1.
  store<u64>(none, 1, KEY_START)
  addNode(none, KEYS, 0, 0, 0)
}

// @ts-ignore: decorator
@inline
export function rootNode(): usize {
  return NODES + NODE_BYTES
}

/**
 * REQUIRES: there is room; the key's bytes with `":` after them are at `key`, `length` bytes in all; the node does not
 * exist.
 * @returns its address
 */
export function addNode(parent: usize, key: usize, length: u32, seedLo: u32, seedHi: u32): usize {
  const node = NODES + <usize>(nodeCount++) * NODE_BYTES
  memory.fill(node, 0, NODE_BYTES)
  store<u32>(node, seedLo, SEED_LO)
  store<u32>(node, seedHi, SEED_HI)
  store<u32>(node, <u32>NODES, NEXT)
  store<u32>(node, <u32>NODES, FIRST)
  store<u32>(node, <u32>parent, PARENT)
  const mask = length >= 8 ? ~(<u64>0) : length == 0 ? <u64>0 : ~(<u64>0) >>> (64 - (length << 3))
  store<u64>(node, load<u64>(key) & mask, KEY_START)
  store<u64>(node, mask, KEY_MASK)
  store<u32>(node, length, KEY_LENGTH)
  store<u32>(node, <u32>key, KEY)
  memory.fill(node + FACTS, 0xff, 64)
  memory.fill(dateFacts(node), 0xff, DATE_FACT_BYTES)
  if (length > 0) {
    let place = hashKey(parent, key, length - 2)
    while (load<u32>(NODE_TABLE + (<usize>place << 2)) != 0) place = (place + 1) & NODE_TABLE_MASK
    store<u32>(NODE_TABLE + (<usize>place << 2), <u32>node)
  }
  return node
}

/** Makes the nodes forget the last document and object: the numbers start over. */
function resetStamps(): void {
  for (let i: u32 = 0; i < nodeCount; i++) {
    const node = NODES + <usize>i * NODE_BYTES
    store<u32>(node, 0, DOCUMENT)
    store<u32>(node, 0, OBJECT)
  }
}

/** Makes the nodes forget everything about the current segment. */
export function resetFacts(): void {
  for (let i: u32 = 0; i < nodeCount; i++) {
    const node = NODES + <usize>i * NODE_BYTES
    store<u64>(node, 0, CONSTANTS)
    memory.fill(node + FACTS, 0xff, 64)
  }
  memory.fill(DATE_FACTS, 0xff, <usize>nodeCount * DATE_FACT_BYTES)
}

/** True when the node's key, with its quote and colon, is at `p`, which may be the end of the input. */
// @ts-ignore: decorator
@inline
export function hasKeyAt(node: usize, p: usize): bool {
  if ((load<u64>(p) & load<u64>(node, KEY_MASK)) != load<u64>(node, KEY_START)) return false
  const length = load<u32>(node, KEY_LENGTH)
  return length <= 8 || isEqual(p, load<u32>(node, KEY), length)
}

/** REQUIRES: `length` > 8. */
function isEqual(a: usize, b: usize, length: u32): bool {
  const last = <usize>length - 8
  for (let i: usize = 0; i < last; i += 8) if (load<u64>(a + i) != load<u64>(b + i)) return false
  return load<u64>(a + last) == load<u64>(b + last)
}

/** Address of the quote that ends the key beginning at `p`, or 0 when it contains an escape or does not end. */
export function endOfKey(p: usize): usize {
  while (true) {
    const bytes = v128.load(p)
    const special = i8x16.bitmask(
      v128.or(v128.or(i8x16.eq(bytes, QUOTE), i8x16.eq(bytes, BACKSLASH)), i8x16.lt_u(bytes, SPACE))
    )
    if (special != 0) {
      p += <usize>ctz(special)
      return load<u8>(p) == 0x22 ? p : 0
    }
    p += 16
  }
}

/** The node below `parent` for the key in [p, end), or 0. */
export function findNode(parent: usize, p: usize, end: usize): usize {
  const length = <u32>(end - p)
  let place = hashKey(parent, p, length)
  while (true) {
    const node = <usize>load<u32>(NODE_TABLE + (<usize>place << 2))
    if (node == 0) return 0
    place = (place + 1) & NODE_TABLE_MASK
    if (load<u32>(node, PARENT) != <u32>parent || load<u32>(node, KEY_LENGTH) != length + 2) continue
    let i: usize = 0
    const key = <usize>load<u32>(node, KEY)
    while (i < <usize>length && load<u8>(p + i) == load<u8>(key + i)) i++
    if (i == <usize>length) return node
  }
}

function hashKey(parent: usize, key: usize, length: u32): u32 {
  let hash = <u64>parent * 0x9e3779b97f4a7c15 + <u64>length
  let i: u32 = 0
  for (; i + 8 <= length; i += 8) hash = (hash ^ load<u64>(key + <usize>i)) * 0xff51afd7ed558ccd
  for (; i < length; i++) hash = (hash ^ <u64>load<u8>(key + <usize>i)) * 0xff51afd7ed558ccd
  return <u32>(hash >>> 40) & NODE_TABLE_MASK
}

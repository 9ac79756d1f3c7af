/**
 * Sorts the entries: keys ascend, versions of a key descend by sequence number. Entries are not moved: each gets the
 * number of its successor.
 *
 * Entries arrive by ascending sequence number, mostly as a few interleaved series with ascending keys: documents, ids,
 * rows of the index. So each is appended to a series whose last key is smaller, provided that it shares at least half
 * as many bytes with that key as that key does with its predecessor: a row must not cut off the ids. If there would be
 * too many series, the shortest ends and becomes a run. Runs are merged in pairs, the short ones first; two that do
 * not overlap are merged by one link.
 */
import { addressOf, compareKeys, keyLengthOf, keyOf, sharedBytes } from './entries'

/** No entry. */
export const NONE: u32 = 0xffffffff
/** With more series, trying them all costs more than merging. */
const MAX_SERIES: u32 = 8
/**
 * Per series: first entry, last entry, length, bytes that the last two keys share; u32 each. After LZ4's hash table.
 */
const SERIES: usize = 0x8000
const SERIES_BYTES: usize = 16

let nextAt: usize = 0
/** First and last entry of each run, u32 each. */
let runsAt: usize = 0
let count: u32 = 0
let placed: u32 = 0
let runs: u32 = 0
/** Number of series that still grow. */
let series: u32 = 0
/** State of the current merge pass: runs read, and runs produced. */
let read: u32 = 0
let made: u32 = 0

/** @param next area with a u32 for each entry @param pairs area with two u32 for each entry */
export function setOrder(entries: u32, next: usize, pairs: usize): void {
  nextAt = next
  runsAt = pairs
  count = entries
  placed = 0
  runs = 0
  series = 0
  read = 0
  made = 0
}

@inline
function firstOf(run: u32): u32 {
  return load<u32>(runsAt + (<usize>run << 3))
}

@inline
function lastOf(run: u32): u32 {
  return load<u32>(runsAt + (<usize>run << 3), 4)
}

@inline
function setRun(run: u32, first: u32, last: u32): void {
  store<u32>(runsAt + (<usize>run << 3), first)
  store<u32>(runsAt + (<usize>run << 3), last, 4)
}

@inline
export function nextOf(entry: u32): u32 {
  return load<u32>(nextAt + (<usize>entry << 2))
}

@inline
function setNext(entry: u32, next: u32): void {
  store<u32>(nextAt + (<usize>entry << 2), next)
}

/** The first entry in order; NONE if there is none. REQUIRES: orderSome() has returned false. */
export function firstEntry(): u32 {
  return runs == 0 ? NONE : firstOf(0)
}

/** Does work for about `limit` entries; true while there is more to do. */
export function orderSome(limit: u32): bool {
  if (placed < count) {
    const end = min<u32>(count, placed + limit)
    while (placed < end) place(placed++)
    if (placed == count) while (series > 0) endSeries(series - 1)
    return true
  }
  let work: u32 = 0
  while (runs > 1) {
    if (work >= limit) return true
    if (read + 1 < runs) {
      work += merge(read, read + 1, made++)
      read += 2
      continue
    }
    if (read < runs) setRun(made++, firstOf(read), lastOf(read))
    runs = made
    read = 0
    made = 0
  }
  return false
}

function place(entry: u32): void {
  const at = addressOf(entry)
  const key = keyOf(at)
  const length = keyLengthOf(at)
  setNext(entry, NONE)
  const end = SERIES + <usize>series * SERIES_BYTES
  for (let one = SERIES; one < end; one += SERIES_BYTES) {
    const last = load<u32>(one, 4)
    const lastAt = addressOf(last)
    const lastKey = keyOf(lastAt)
    const lastLength = keyLengthOf(lastAt)
    const shared = sharedBytes(lastKey, key, min<u32>(lastLength, length))
    if (shared + shared < load<u32>(one, 12) || shared == length) continue
    if (shared < lastLength && load<u8>(lastKey + <usize>shared) > load<u8>(key + <usize>shared)) continue
    setNext(last, entry)
    store<u32>(one, entry, 4)
    store<u32>(one, load<u32>(one, 8) + 1, 8)
    store<u32>(one, shared, 12)
    return
  }
  if (series == MAX_SERIES) endSeries(shortestSeries())
  const one = SERIES + <usize>(series++) * SERIES_BYTES
  store<u32>(one, entry)
  store<u32>(one, entry, 4)
  store<u32>(one, 1, 8)
  store<u32>(one, 0, 12)
}

function shortestSeries(): u32 {
  let shortest: u32 = 0
  for (let i: u32 = 1; i < series; i++) {
    if (lengthOf(i) <= lengthOf(shortest)) shortest = i
  }
  return shortest
}

@inline
function lengthOf(i: u32): u32 {
  return load<u32>(SERIES + <usize>i * SERIES_BYTES, 8)
}

/** Turns a series into a run; those after it move up. */
function endSeries(i: u32): void {
  const at = SERIES + <usize>i * SERIES_BYTES
  setRun(runs++, load<u32>(at), load<u32>(at, 4))
  series--
  memory.copy(at, at + SERIES_BYTES, <usize>(series - i) * SERIES_BYTES)
}

/** Whether entry a sorts before entry b. */
@inline
function isBefore(a: u32, b: u32): bool {
  const aAt = addressOf(a)
  const bAt = addressOf(b)
  const order = compareKeys(keyOf(aAt), keyLengthOf(aAt), keyOf(bAt), keyLengthOf(bAt))
  return order < 0 || (order == 0 && a > b)
}

/** Merges two runs into one; returns the number of entries visited. */
function merge(left: u32, right: u32, target: u32): u32 {
  let run = firstOf(left)
  let other = firstOf(right)
  let runLast = lastOf(left)
  let otherLast = lastOf(right)
  if (isBefore(runLast, other)) {
    setNext(runLast, other)
    setRun(target, run, otherLast)
    return 1
  }
  if (isBefore(otherLast, run)) {
    setNext(otherLast, run)
    setRun(target, other, runLast)
    return 1
  }
  let work: u32 = 0
  if (isBefore(other, run)) {
    const swapped = run
    run = other
    other = swapped
    const swappedLast = runLast
    runLast = otherLast
    otherLast = swappedLast
  }
  const first = run
  // `run` sorts before every remaining entry of the other run, and advances until one no longer does.
  while (true) {
    let last = run
    run = nextOf(last)
    work++
    while (run != NONE && isBefore(run, other)) {
      last = run
      run = nextOf(run)
      work++
    }
    setNext(last, other)
    if (run == NONE) {
      setRun(target, first, otherLast)
      return work
    }
    const swapped = run
    run = other
    other = swapped
    const swappedLast = runLast
    runLast = otherLast
    otherLast = swappedLast
  }
}

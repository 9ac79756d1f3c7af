/**
 * Puts the entries in order: keys ascend, versions of a key descend by sequence number. Each entry gets the number of the
 * one that follows it; nothing is moved.
 *
 * Entries come by ascending sequence number, and mostly as a few series whose keys ascend, too: documents, ids, rows of the
 * index. So each is put behind a series whose last key is smaller, and shares at least half as many bytes with it as that
 * does with the one before: a row must not cut off the ids. Where there would be too many series, the shortest ends and
 * becomes a run. Runs are merged in pairs, the short ones first; two that do not overlap by one link.
 */
import { addressOf, compareKeys, keyLengthOf, keyOf, sharedBytes } from './entries'

/** The number of no entry. */
export const NONE: u32 = 0xffffffff
/** With more, trying them all costs more than merging. */
const MAX_SERIES: u32 = 8
/** First entry, last entry, length, bytes that the last two keys share: u32 each. Behind the hash table of LZ4. */
const SERIES: usize = 0x8000
const SERIES_BYTES: usize = 16

let nextAt: usize = 0
/** First and last entry of each run, u32 each. */
let runsAt: usize = 0
let count: u32 = 0
let placed: u32 = 0
let runs: u32 = 0
/** Series that still grow. */
let series: u32 = 0
/** Of the pass of merges that goes on: runs read, and runs made of them. */
let read: u32 = 0
let made: u32 = 0

/** @param next room for a u32 for each entry @param pairs room for two u32 for each entry */
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

/** The first entry of all; NONE when there is none. REQUIRES: orderSome() has said that there is no more to do. */
export function firstEntry(): u32 {
  return runs == 0 ? NONE : firstOf(0)
}

/** Does about so many entries' work; true while there is more. */
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

/** Makes a run of a series; those behind it move up. */
function endSeries(i: u32): void {
  const at = SERIES + <usize>i * SERIES_BYTES
  setRun(runs++, load<u32>(at), load<u32>(at, 4))
  series--
  memory.copy(at, at + SERIES_BYTES, <usize>(series - i) * SERIES_BYTES)
}

/** Whether entry a comes before entry b. */
@inline
function isBefore(a: u32, b: u32): bool {
  const aAt = addressOf(a)
  const bAt = addressOf(b)
  const order = compareKeys(keyOf(aAt), keyLengthOf(aAt), keyOf(bAt), keyLengthOf(bAt))
  return order < 0 || (order == 0 && a > b)
}

/** Makes one run of two; returns the entries that were looked at. */
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
  // `run` is behind no entry of the other run that is left, and goes on until one of it is.
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

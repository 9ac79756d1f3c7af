/**
 * The commit times of change events: one clock for all collections of the process.
 *
 * Invariant: event times are unique and increase, whatever the system clock does.
 */
import { Timestamp } from 'bson'

export interface EventTime {
  /** Since 1970. */
  readonly seconds: number
  /** Position within the second, from 1. */
  readonly increment: number
  readonly wallMilliseconds: number
}

const maxIncrement = 0xffff_ffff
let seconds = 0
let increment = 0

export function nextEventTime(wallMilliseconds = Date.now()): EventTime {
  const now = Math.floor(wallMilliseconds / 1000)
  if (now > seconds || increment === maxIncrement) {
    seconds = Math.max(now, seconds + 1)
    increment = 0
  }
  return { seconds, increment: ++increment, wallMilliseconds }
}

export function clusterTimeOf({ seconds: t, increment: i }: EventTime): Timestamp {
  return new Timestamp({ t, i })
}

/** Tokens sort in the order of their events. */
export function tokenOf({ seconds: t, increment: i }: EventTime): { readonly _data: string } {
  return { _data: hex(t) + hex(i) }
}

function hex(value: number): string {
  return value.toString(16).toUpperCase().padStart(8, '0')
}

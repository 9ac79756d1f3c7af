/**
 * Identifies a process beyond its number, and tells whether it is still running. Process numbers are reused; a number
 * combined with the process's start time and boot is not.
 */
import { readFileSync } from 'node:fs'
import { hasSystemCode } from './system-error.ts'

export interface ProcessIdentity {
  readonly pid: number
  /** Clock ticks from boot to the start of the process; undefined if unknown (other than on Linux). */
  readonly startTime?: number
  /** Different for every boot; undefined if unknown. */
  readonly bootId?: string
}

interface ProcessStatus {
  readonly startTime: number
  /** A zombie whose threads are all gone: it holds nothing any more, but its parent has not waited for it yet. */
  readonly isDefunct: boolean
}

let self: ProcessIdentity | undefined

export function ownIdentity(): ProcessIdentity {
  if (self === undefined) {
    const startTime = statusOf(process.pid)?.startTime
    const bootId = readText('/proc/sys/kernel/random/boot_id')?.trim()
    self = {
      pid: process.pid,
      ...(startTime === undefined ? {} : { startTime }),
      ...(bootId === undefined ? {} : { bootId })
    }
  }
  return self
}

export function isOwn(identity: ProcessIdentity): boolean {
  const own = ownIdentity()
  return identity.pid === own.pid && identity.startTime === own.startTime && identity.bootId === own.bootId
}

/** False only if the process cannot be running: if that is unknown, it counts as alive. */
export function mayBeAlive(identity: ProcessIdentity): boolean {
  const { bootId } = ownIdentity()
  if (identity.bootId !== undefined && bootId !== undefined && identity.bootId !== bootId) return false
  if (!exists(identity.pid)) return false
  const status = statusOf(identity.pid)
  if (status === undefined) return true
  if (identity.startTime !== undefined && identity.startTime !== status.startTime) return false
  return !status.isDefunct
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it exists and belongs to another user.
    return !hasSystemCode(error, 'ESRCH')
  }
}

/** Parses /proc/<pid>/stat: `pid (name) state …`, where the name may contain anything, including brackets. */
function statusOf(pid: number): ProcessStatus | undefined {
  const text = readText(`/proc/${pid}/stat`)
  if (text === undefined) return undefined
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  // Fields 3, 20 and 22 of proc(5); field 3 is the first after the name.
  const [state, threads, startTime] = [fields[0], Number(fields[17]), Number(fields[19])]
  if (!Number.isSafeInteger(startTime)) return undefined
  return { startTime, isDefunct: state === 'X' || (state === 'Z' && threads <= 1) }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // There is no /proc, or the process has ended, or it is hidden from us: nothing is known.
    return undefined
  }
}

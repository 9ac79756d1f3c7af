/**
 * Who a process is, beyond its number, and whether it is still there. Process numbers are used again; a number with
 * the time its process started and the boot it ran in is not.
 */
import { readFileSync } from 'node:fs'
import { hasSystemCode } from './system-error.ts'

export interface ProcessIdentity {
  readonly pid: number
  /** Clock ticks from boot to the start of the process; undefined where the system does not say (not Linux). */
  readonly startTime?: number
  /** Differs from boot to boot; undefined where the system does not say. */
  readonly bootId?: string
}

interface ProcessStatus {
  readonly startTime: number
  /** A zombie whose threads are all gone: it holds nothing any more, its parent just has not asked yet. */
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

/** False only when the process cannot be running: where the system does not say, it is taken to be. */
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
    // EPERM: it is there and belongs to somebody else.
    return !hasSystemCode(error, 'ESRCH')
  }
}

/** From /proc/<pid>/stat: `pid (name) state …`, where the name may hold anything, brackets too. */
function statusOf(pid: number): ProcessStatus | undefined {
  const text = readText(`/proc/${pid}/stat`)
  if (text === undefined) return undefined
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  // Fields 3, 20 and 22 of proc(5); what follows the name begins with field 3.
  const [state, threads, startTime] = [fields[0], Number(fields[17]), Number(fields[19])]
  if (!Number.isSafeInteger(startTime)) return undefined
  return { startTime, isDefunct: state === 'X' || (state === 'Z' && threads <= 1) }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // No /proc here, or the process ended, or it is hidden from us: all mean that we do not know.
    return undefined
  }
}

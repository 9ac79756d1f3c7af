/**
 * Leases scanners to their users. An instance reserves gigabytes of address space although it has only fifteen
 * megabytes, so there are at most 16; an index that has not used its scanner for a while loses it to one that wants to
 * write.
 */
import { instantiateScanner, type ScannerModule } from './scanner-module.ts'

const maxScanners = 16
const idleMilliseconds = 1000

/** An owner is notified when its scanner is taken away. */
export interface ScannerOwner {
  onScannerRevoked(): void
}

interface Lease {
  readonly module: ScannerModule
  owner: ScannerOwner
  lastUse: number
}

const leases: Lease[] = []
const vacant: ScannerModule[] = []

/** Returns an exclusive scanner, in any state; undefined when others use all of them. */
export function acquireScanner(owner: ScannerOwner): ScannerModule | undefined {
  const module = vacant.pop() ?? (leases.length < maxScanners ? instantiateScanner() : revokeIdle())
  if (module !== undefined) leases.push({ module, owner, lastUse: performance.now() })
  return module
}

/** Marks the scanner as in use. Call occasionally. */
export function touchScanner(owner: ScannerOwner): void {
  const lease = leases.find((each) => each.owner === owner)
  if (lease !== undefined) lease.lastUse = performance.now()
}

export function releaseScanner(owner: ScannerOwner): void {
  const place = leases.findIndex((lease) => lease.owner === owner)
  const [lease] = place < 0 ? [] : leases.splice(place, 1)
  if (lease !== undefined) vacant.push(lease.module)
}

function revokeIdle(): ScannerModule | undefined {
  const longest = leases.reduce((a, b) => (a.lastUse <= b.lastUse ? a : b))
  if (performance.now() - longest.lastUse < idleMilliseconds) return undefined
  leases.splice(leases.indexOf(longest), 1)
  longest.owner.onScannerRevoked()
  return longest.module
}

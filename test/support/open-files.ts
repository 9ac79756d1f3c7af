import { readdirSync, readlinkSync } from 'node:fs'

/** Whether this process has the file open, as Linux reports it; elsewhere false. */
export function isOpen(path: string): boolean {
  if (process.platform !== 'linux') return false
  return readdirSync('/proc/self/fd').some((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`) === path
    } catch {
      // Closed since it was listed.
      return false
    }
  })
}

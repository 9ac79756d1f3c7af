/**
 * Processor time of this process in milliseconds. Tests limit it because, unlike the clock, it stands still while other
 * processes run.
 */
export function cpuMilliseconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/**
 * Milliseconds for which a processor has worked for this process. Bounds on time are of it: unlike the clock, it stands still
 * while other processes have the processor.
 */
export function cpuMilliseconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

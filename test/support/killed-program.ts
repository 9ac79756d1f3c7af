/** Runs a program that writes to a database and reports what was acknowledged to a log, and kills it. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { loader } from './program.ts'

/**
 * Runs a program until it is killed.
 * @param milliseconds from its first output to kill -9; undefined if it ends by itself
 * @throws Error with what the program wrote to stderr, if it ended otherwise
 */
export function runUntilKilled(
  script: string,
  args: readonly string[],
  milliseconds: number | undefined
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...loader, script, ...args])
    let errors = ''
    child.stderr.on('data', (chunk) => {
      errors += chunk
    })
    child.stdout.once('data', () => {
      if (milliseconds !== undefined) setTimeout(() => child.kill('SIGKILL'), milliseconds)
    })
    child.on('close', (code, signal) => {
      if (milliseconds === undefined ? code === 0 : signal === 'SIGKILL') resolve()
      else reject(new Error(`the program ended by itself (${code}, ${signal}): ${errors}`))
    })
  })
}

/** Returns the lines of its log; text after the last line end is an incomplete one. */
export function linesOf(log: string): string[] {
  return readFileSync(log, 'utf8').split('\n').slice(0, -1)
}

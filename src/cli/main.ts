/**
 * The command line: finds the command, runs it, and turns what goes wrong into one line and an exit status.
 */
import { readFileSync } from 'node:fs'
import type { Command } from './command.ts'
import { commandNamed, commands } from './commands.ts'
import { adviceOn, ClosedPipe, describeError, firstError, UsageError } from './errors.ts'
import { printLine } from './line-writer.ts'

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  // The writer receives the error, too; without a listener it would end the process with a stack trace.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  let command: Command | undefined
  try {
    const [name = 'help', ...rest] = args
    if (name === '--version' || name === '-v') return await print(version())
    if (name === 'help' || name === '--help' || name === '-h') return await print(help(rest[0]))
    command = commandNamed(name)
    if (command === undefined) throw new UsageError(`there is no command '${name}'`)
    return await command.run(rest)
  } catch (error) {
    return report(firstError(error), command)
  }
}

function report(error: unknown, command: Command | undefined): number {
  if (error instanceof ClosedPipe) return 0
  process.stderr.write(`petaldb${command === undefined ? '' : ` ${command.name}`}: ${describeError(error)}\n`)
  const advice = adviceOn(error)
  if (advice !== undefined) process.stderr.write(`${advice}\n`)
  if (!(error instanceof UsageError)) return 1
  process.stderr.write(`usage: ${command?.usage ?? 'petaldb <command> [arguments]; petaldb help lists the commands'}\n`)
  return 2
}

function help(name: string | undefined): string {
  if (name !== undefined) {
    const command = commandNamed(name)
    if (command === undefined) throw new UsageError(`there is no command '${name}'`)
    return command.help
  }
  const width = Math.max(...commands.map((command) => command.name.length))
  const lines = [
    'petaldb <command> [arguments]',
    '',
    ...commands.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`),
    '',
    '  petaldb help <command> describes a command; petaldb --version prints the version.',
    '',
    'Exit status: 0 success, 1 failure, 2 invalid arguments, 130 interrupted by Ctrl-C.'
  ]
  return lines.join('\n')
}

function version(): string {
  const description: unknown = JSON.parse(readFileSync(new URL(import.meta.resolve('petaldb/package.json')), 'utf8'))
  return String((description as { version?: unknown }).version)
}

async function print(text: string): Promise<number> {
  await printLine(text)
  return 0
}

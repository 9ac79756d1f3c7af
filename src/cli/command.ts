/** Defines a command of the command line: its arguments, its help, and what it does. */
import { parseArgs } from 'node:util'
import { isSystemError, UsageError } from './errors.ts'
import { printLine } from './line-writer.ts'

export type OptionSpec =
  | { readonly type: 'boolean'; readonly help: string }
  /** @param value placeholder for the value in the help text */
  | { readonly type: 'string'; readonly value: string; readonly help: string }

export type OptionTable = Readonly<Record<string, OptionSpec>>

export type OptionValues<Options extends OptionTable> = {
  readonly [Name in keyof Options]?: Options[Name]['type'] extends 'boolean' ? boolean : string
}

export type ExitStatus = number

export interface CommandSpec<Options extends OptionTable> {
  readonly name: string
  /** A line for the list of commands. */
  readonly summary: string
  /**
   * Positional arguments as shown in the usage line: `<db> [filter]`. Optional ones are in brackets, and come last; a
   * literal word is written as is.
   */
  readonly positionals: string
  readonly options: Options
  /** Further lines of help. */
  readonly details?: readonly string[]
  /** @param positionals includes all required ones */
  run(positionals: readonly string[], options: OptionValues<Options>): Promise<ExitStatus>
}

export interface Command {
  readonly name: string
  readonly summary: string
  readonly usage: string
  readonly help: string
  /** @throws UsageError for invalid arguments */
  run(args: readonly string[]): Promise<ExitStatus>
}

const helpOption = { type: 'boolean', help: 'show this help' } as const

export function command<const Options extends OptionTable>(spec: CommandSpec<Options>): Command {
  const table: OptionTable = { ...spec.options, help: helpOption }
  const names = spec.positionals.split(/ (?=[<[])/).filter((name) => name !== '')
  const required = names.filter((name) => !name.startsWith('['))
  const usage = `petaldb ${[spec.name, ...names, '[options]'].join(' ')}`
  const help = helpText(spec, usage, table)
  return {
    name: spec.name,
    summary: spec.summary,
    usage,
    help,
    async run(args) {
      const { values, positionals } = parse(args, table)
      if (values.help === true) {
        await printLine(help)
        return 0
      }
      const missing = required[positionals.length]
      if (missing !== undefined) throw new UsageError(`${missing} is missing`)
      const extra = positionals[names.length]
      if (extra !== undefined) throw new UsageError(`unexpected argument '${extra}'`)
      // parseArgs() has checked the values against the same table that the type is derived from.
      return spec.run(positionals, values as OptionValues<Options>)
    }
  }
}

interface Parsed {
  readonly values: Readonly<Record<string, unknown>>
  readonly positionals: readonly string[]
}

function parse(args: readonly string[], table: OptionTable): Parsed {
  const options = {
    ...Object.fromEntries(Object.entries(table).map(([name, { type }]) => [name, { type }])),
    help: { type: 'boolean', short: 'h' } as const
  }
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    if (!isSystemError(error) || !String(error.code).startsWith('ERR_PARSE_ARGS')) throw error
    // The first sentence says what is wrong; the rest is advice for callers of parseArgs().
    const [problem = error.message] = error.message.split(/\. |\.?\n/)
    throw new UsageError(`${problem}${remedy(error.message, args, table)}`)
  }
}

/** Advice for a value that starts with a dash, which is taken for an option unless it is attached to its option. */
function remedy(message: string, args: readonly string[], table: OptionTable): string {
  const [, option = ''] = /use '(--[^=']+)=/.exec(message) ?? []
  const value = args[args.indexOf(option) + 1]
  if (option === '' || value === undefined) return ''
  const isOption = Object.keys(table).some((name) => value === `--${name}` || value.startsWith(`--${name}=`))
  return isOption ? `: it is followed by ${value}` : `: write ${option}=${value}`
}

function helpText<Options extends OptionTable>(spec: CommandSpec<Options>, usage: string, table: OptionTable): string {
  const labels = Object.entries(table).map(([name, option]) => ({
    label: option.type === 'string' ? `--${name} ${option.value}` : `--${name}`,
    help: option.help
  }))
  const width = Math.max(...labels.map(({ label }) => label.length))
  const lines = [
    `${usage}`,
    '',
    `  ${spec.summary}`,
    '',
    ...labels.map(({ label, help }) => `  ${label.padEnd(width)}  ${help}`),
    ...(spec.details === undefined ? [] : ['', ...spec.details.map((line) => `  ${line}`.trimEnd())])
  ]
  return lines.join('\n')
}

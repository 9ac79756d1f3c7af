/** Runs the real command line as a child process. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Document, open } from '../../src/index.ts'
import { loader, program } from '../support/program.ts'
import { withoutProgress } from '../support/progress-lines.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Outcome {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  /** Without progress lines. */
  readonly stderr: string
}

export interface Child {
  readonly process: ChildProcessWithoutNullStreams
  readonly outcome: Promise<Outcome>
}

/** @param nodeArguments further arguments for Node itself */
export function startCli(args: readonly string[], nodeArguments: readonly string[] = []): Child {
  return start([process.execPath, ...loader, ...nodeArguments, program('src/cli/main.ts'), ...args])
}

/** Runs the command with a limit on the length of the files it writes, as if the disk were full. */
export function runCliWithShortFiles(maxFileBytes: number, args: readonly string[]): Promise<Outcome> {
  const limited = `ulimit -f ${maxFileBytes / 512}; exec "$@"`
  const child = start(['sh', '-c', limited, 'sh', process.execPath, ...loader, program('src/cli/main.ts'), ...args])
  child.process.stdin.end()
  return child.outcome
}

function start([executable = '', ...args]: readonly string[]): Child {
  const child = spawn(executable, args, { cwd: root, env: { ...process.env, NO_COLOR: '1' } })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  // The child may end before it has read everything.
  child.stdin.on('error', () => {})
  const outcome = new Promise<Outcome>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr: withoutProgress(stderr) }))
  })
  return { process: child, outcome }
}

/** @param input content of standard input; empty by default */
export function runCli(args: readonly string[], input: string | Uint8Array = ''): Promise<Outcome> {
  const child = startCli(args)
  child.process.stdin.end(input)
  return child.outcome
}

/**
 * Runs a command that creates a directory, and sends it a signal while it fills the directory under a temporary name.
 * Retries if the command completes before the signal arrives, as it may when processors are busy.
 */
export async function interruptWhileFilling(
  args: readonly string[],
  location: string,
  signal: NodeJS.Signals
): Promise<Outcome> {
  for (let tries = 1; ; tries++) {
    const child = startCli(args)
    let isOver = false
    child.process.on('exit', () => {
      isOver = true
    })
    while (!isOver && !readdirSync(dirname(location)).some((name) => name.endsWith('.partial'))) {
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    child.process.kill(signal)
    const outcome = await child.outcome
    if (outcome.code !== 0 || tries === 20) return outcome
    rmSync(location, { recursive: true })
  }
}

export function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '')
}

/** Reads a database's documents through the library; throws if one cannot be read. */
export async function readAll(location: string): Promise<readonly Document[]> {
  await using db = await open(location, { createIfMissing: false })
  const documents = await db.find({}, { sort: { $natural: 1 }, hint: 'scan' }).toArray()
  if ((await db.countDocuments()) !== documents.length) throw new Error('the count is not that of the documents')
  return documents
}

/** Runs a test with a directory that is removed at its end. */
export async function inTemporaryDirectory(work: (path: (name: string) => string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'petaldb-cli-'))
  try {
    await work((name) => join(directory, name))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

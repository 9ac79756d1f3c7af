/**
 * Repeatedly kills a process that writes to a store on a real disk, and checks the rest each time: every acknowledged
 * write exists, every batch is complete or absent, and the directory opens at once.
 *
 * The page cache survives a killed process, so that acknowledged writes must exist whether they were synced or not.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { LsmLevel } from '../../src/lsm/index.ts'
import type { Random } from '../bloom/random.ts'
import { counterKey, operationsOf, writerOptions } from '../lsm/kill-writes.ts'
import { contentAsText } from './lsm-history.ts'
import { program } from './program.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface KillRecord {
  readonly rounds: number
  /** Writes found, in all rounds. */
  readonly writes: number
  /** Number of rounds in which the process died before it had opened the store. */
  readonly killedOpening: number
  /** For the first open after a kill. */
  readonly slowestOpenMilliseconds: number
}

/**
 * Compiles the writer unless that has been done: starting it from its sources would take longer than the rounds.
 * @returns the path of the program
 */
export function compileWriter(): string {
  const writer = program('test/lsm/kill-writer.ts')
  if (writer.endsWith('.js')) return writer
  const directory = temporaryDirectory()
  const output = join(directory, 'out')
  mkdirSync(output)
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}')
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  const config = {
    extends: join(root, 'tsconfig.build.json'),
    compilerOptions: {
      rootDir: root,
      outDir: output,
      declaration: false,
      emitDeclarationOnly: false,
      typeRoots: [join(root, 'node_modules/@types')]
    },
    include: [],
    files: [join(root, 'test/lsm/kill-writer.ts'), join(root, 'src/lsm/compaction/worker.ts')]
  }
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(config))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', directory, '--noCheck'], { encoding: 'utf8' })
  assert.is(status, 0, stdout)
  return join(output, 'test/lsm/kill-writer.js')
}

/** @throws when a check fails */
export async function runKillRounds(program: string, rounds: number, random: Random): Promise<KillRecord> {
  const location = join(temporaryDirectory(), 'db')
  const model = new Map<string, string>()
  let last = 0
  let writes = 0
  let killedOpening = 0
  let slowestOpenMilliseconds = 0
  for (let round = 1; round <= rounds; round++) {
    const { hasOpened, acknowledged } = await writeAndKill(program, location, last + 1, random)
    const started = performance.now()
    const db = new LsmLevel(location, writerOptions)
    await db.open()
    slowestOpenMilliseconds = Math.max(slowestOpenMilliseconds, performance.now() - started)
    const found = Number((await db.get(counterKey)) ?? 0)
    const where = `round ${round}: found ${found}, acknowledged ${acknowledged ?? last}, before ${last}`
    assert.ok(found >= (acknowledged ?? last), where)
    for (let write = last + 1; write <= found; write++) {
      for (const { key, value } of operationsOf(write)) {
        if (value === undefined) model.delete(key)
        else model.set(key, value)
      }
    }
    assert.ok(contentAsText(await db.iterator().all()) === contentAsText(model), `${where}, not the state after it`)
    await db.close()
    if (!hasOpened) killedOpening++
    writes += found - last
    last = found
  }
  return { rounds, writes, killedOpening, slowestOpenMilliseconds }
}

interface Round {
  readonly hasOpened: boolean
  /** The last acknowledged write, if any: they are acknowledged in order. */
  readonly acknowledged: number | undefined
}

function writeAndKill(program: string, location: string, firstWrite: number, random: Random): Promise<Round> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, location, String(firstWrite)])
    let output = ''
    let errors = ''
    const kill = (): void => void child.kill('SIGKILL')
    const dice = random.below(8)
    // Some die while they start, open or recover; some live until the compaction thread has worked for a while.
    if (dice === 0) setTimeout(kill, 60 + random.below(100))
    else child.stdout.once('data', () => setTimeout(kill, random.below(dice < 3 ? 500 : 150)))
    child.stdout.on('data', (chunk) => {
      output += chunk
    })
    child.stderr.on('data', (chunk) => {
      errors += chunk
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (signal !== 'SIGKILL') reject(new Error(`the writer ended by itself (${code}): ${errors}`))
      // The text after the last line end is incomplete.
      const [first, ...numbers] = output.split('\n').slice(0, -1)
      const last = numbers.at(-1)
      resolve({ hasOpened: first !== undefined, acknowledged: last === undefined ? undefined : Number(last) })
    })
  })
}

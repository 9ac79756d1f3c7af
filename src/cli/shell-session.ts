/** A session of the shell: reads lines and answers them one after the other. */
import type { Interface } from 'node:readline'
import { PetalError } from '../model/errors.ts'
import { ClosedPipe, describeError } from './errors.ts'
import type { Evaluator } from './shell-evaluator.ts'
import { pageDocuments, type ShellOutput } from './shell-output.ts'

const help = [
  'db is the database: db.find({ lang: "en" }), db.paths(), db.collection("people").countDocuments()',
  'show collections  lists the collections; db itself is the collection default',
  `.more  shows the next ${pageDocuments} documents of the last cursor`,
  '.exit  leaves the shell, as does Ctrl-D; Ctrl-C interrupts a query or discards the typed text'
]

/** Commands of this prompt, which are not JavaScript elsewhere. */
const commands = /^\s*(\.[a-z]+|help|show\s+\w+);?\s*$/

/** The ways to leave other prompts. */
const exitCommand = /^\s*(\.?exit|\.?quit)(\(\))?;?\s*$/

export interface ShellParts {
  readonly lines: Interface
  readonly evaluator: Evaluator
  readonly output: ShellOutput
  readonly prompt: string
}

/** Processes lines one by one: the next is read when the previous one has been answered. */
export class ShellSession {
  hasFailed = false
  readonly #parts: ShellParts
  /** Lines of an incomplete statement. */
  #incomplete = ''
  /** Ends the wait for an answer. */
  #stopWaiting: (() => void) | undefined
  #isOver = false

  constructor(parts: ShellParts) {
    this.#parts = parts
    parts.lines.on('SIGINT', () => this.#interrupt())
  }

  async run(): Promise<void> {
    const { lines } = this.#parts
    this.#prompt()
    for await (const line of lines) {
      if (this.#isOver || (this.#incomplete === '' && exitCommand.test(line))) break
      await this.#take(line)
      this.#prompt()
    }
    lines.close()
    // At a terminal, Ctrl-D leaves even within a statement.
    if (this.#parts.prompt === '' && this.#incomplete !== '' && !this.#isOver) {
      this.hasFailed = true
      this.#parts.output.print(`The input ends within a statement:\n${this.#incomplete.trimEnd()}`)
    }
  }

  stop(): void {
    this.#isOver = true
    this.#stopWaiting?.()
    this.#parts.lines.close()
  }

  /** Ends the wait for a result that can never arrive, because nothing is left to run. */
  giveUp(): void {
    if (this.#stopWaiting === undefined) return
    this.hasFailed = true
    this.#parts.output.print('The result will never arrive: nothing is left that it could be waiting for')
    void this.#parts.output.end()
    // In a turn of its own, or Node would exit without asking again if the next result does not arrive either.
    setImmediate(this.#stopWaiting)
  }

  async #take(line: string): Promise<void> {
    const code = `${this.#incomplete}${line}\n`
    const [, name] = (this.#incomplete === '' && commands.exec(line)) || []
    this.#incomplete = ''
    if (code.trim() === '') return
    try {
      await this.#untilInterrupted(name === undefined ? this.#evaluate(code) : this.#runCommand(name))
    } catch (error) {
      if (error instanceof ClosedPipe) throw error
      this.reportError(error)
    }
  }

  /** Reports an error of a line, or of something it has started. */
  reportError(error: unknown): void {
    const { output } = this.#parts
    this.hasFailed = true
    output.print(error instanceof PetalError ? describeError(error) : `Uncaught ${output.errorText(error)}`)
  }

  async #runCommand(name: string): Promise<void> {
    const { output } = this.#parts
    const [, shown] = /^show\s+(.*)/.exec(name) ?? []
    if (name === '.more') await output.more()
    else if (shown === 'collections') await this.#evaluate('db.listCollections().map(({ name }) => name)')
    else if (shown !== undefined) output.print(unknownShowHint(shown))
    else output.print(name.endsWith('help') ? help.join('\n') : `there is no command ${name}; .help lists the commands`)
  }

  async #evaluate(code: string): Promise<void> {
    const { evaluator, output } = this.#parts
    const evaluated = evaluator.evaluate(code)
    if (evaluated === undefined) this.#incomplete = code
    else await output.show(evaluated.value)
  }

  /** Waits for an answer until interrupted. Whatever continues after that is ignored, including its errors. */
  async #untilInterrupted(answering: Promise<void>): Promise<void> {
    const interrupted = new Promise<void>((resolve) => {
      this.#stopWaiting = resolve
    })
    await Promise.race([answering, interrupted])
    this.#stopWaiting = undefined
    answering.catch(() => {})
  }

  #interrupt(): void {
    const { lines, output } = this.#parts
    if (this.#stopWaiting !== undefined) {
      void output.interrupt()
      this.#stopWaiting()
      return
    }
    const isIdle = this.#incomplete === '' && lines.line === ''
    this.#incomplete = ''
    // Simulates the keys that clear the line.
    lines.write(null, { ctrl: true, name: 'e' })
    lines.write(null, { ctrl: true, name: 'u' })
    output.print(isIdle ? '\n.exit or Ctrl-D leaves the shell' : '')
    this.#prompt()
  }

  #prompt(): void {
    const { lines, prompt } = this.#parts
    if (prompt === '' || this.#isOver) return
    lines.setPrompt(this.#incomplete === '' ? prompt : '... ')
    lines.prompt()
  }
}

function unknownShowHint(shown: string): string {
  return shown === 'dbs' || shown === 'databases'
    ? 'a directory holds a single database, which is db; show collections lists its collections'
    : `there is no command show ${shown}; show collections lists the collections`
}

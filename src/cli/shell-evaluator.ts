/**
 * JavaScript, a statement at a time, in the realm of the library, so that dates and objects of a line are those it knows. Names that
 * are declared stay, and may be declared again; `await` may stand anywhere outside functions.
 */
import { constants, Script } from 'node:vm'
import { shellValues } from './shell-values.ts'

const maxOpenParentheses = 20

export class Evaluator {
  /** @param names what is known by name, beside the BSON types */
  constructor(names: Readonly<Record<string, unknown>>) {
    Object.assign(globalThis, shellValues(), names)
  }

  /**
   * @returns what the code gives, not waited for; undefined where it goes on in the next line
   * @throws what it throws, SyntaxError among it
   */
  evaluate(code: string): { readonly value: unknown } | undefined {
    const compiled = compile(code)
    return compiled === undefined ? undefined : { value: compiled.runInThisContext() }
  }

  /** Names that a line may go on with, and what of the line they take the place of: as readline asks for them. */
  readonly complete = (line: string): [string[], string] => {
    const [, owner, begun = ''] = /(?:([\w$][\w$.]*)\.)?([\w$]*)$/.exec(line) ?? []
    let object: unknown = globalThis
    for (const name of owner?.split('.') ?? []) object = (object as Record<string, unknown> | undefined)?.[name]
    return [namesOf(object).filter((name) => name.startsWith(begun)), begun]
  }
}

/** undefined where the code is not whole yet. @throws SyntaxError */
function compile(code: string): Script | undefined {
  let reason: unknown
  for (const spelling of spellings(code)) {
    try {
      return scriptOf(spelling)
    } catch (error) {
      if (isUnfinished(spelling, error)) return undefined
      // Of what was typed, not of what was made of it; await is what the others are for.
      reason ??= error
    }
  }
  throw reason
}

/** What a statement may mean, the likeliest first. */
function* spellings(code: string): Generator<string> {
  const bare = code.trim().replace(/;+$/, '')
  // A brace begins a document rather than a block.
  if (bare.startsWith('{')) yield `(${bare}\n)`
  const [, declared] = /^(?:const|let|var)\s+([\s\S]+)$/.exec(bare) ?? []
  yield declared === undefined ? code : `var ${declared}`
  if (!/\bawait\b/.test(code)) return
  yield `(async () => (${bare}\n))()`
  // Assignments, so that the names stay.
  if (declared !== undefined) yield `(async () => void (${declared}\n))()`
  yield `(async () => {${code}\n})()`
}

function scriptOf(code: string): Script {
  return new Script(code, { filename: 'shell', importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER })
}

/** Whether more lines may make it whole. V8 says the same of a call that is not closed and of one that is wrong. */
function isUnfinished(code: string, error: unknown): boolean {
  if (!(error instanceof SyntaxError)) return false
  if (error.message === 'Unexpected end of input') return true
  if (!error.message.startsWith('missing ) after')) return false
  for (let closed = 1; closed <= maxOpenParentheses; closed++) {
    try {
      scriptOf(`${code}${')'.repeat(closed)}`)
      return true
    } catch {}
  }
  return false
}

/** Of an object and what it inherits, but for what all objects inherit. */
function namesOf(value: unknown): string[] {
  const names = new Set<string>()
  for (let object = value; object !== null && object !== undefined && object !== Object.prototype; ) {
    for (const name of Object.getOwnPropertyNames(object)) if (/^[A-Za-z_$][\w$]*$/.test(name)) names.add(name)
    object = Object.getPrototypeOf(object)
  }
  names.delete('constructor')
  return [...names].sort()
}

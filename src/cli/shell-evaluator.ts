/**
 * Evaluates JavaScript statement by statement, in the library's own realm, so that dates and objects are instances of
 * the classes it knows. Declared names persist, and may be declared again; `await` is allowed anywhere outside of
 * functions.
 */
import { constants, Script } from 'node:vm'
import { shellValues } from './shell-values.ts'

const maxOpenParentheses = 20

export class Evaluator {
  /** @param names global names in addition to the BSON types */
  constructor(names: Readonly<Record<string, unknown>>) {
    Object.assign(globalThis, shellValues(), names)
  }

  /**
   * Evaluates code.
   * @returns the result of the last statement, without awaiting it; undefined if the code is incomplete
   * @throws whatever the code throws, including SyntaxError
   */
  evaluate(code: string): { readonly value: unknown } | undefined {
    const run = compile(code)
    return run === undefined ? undefined : { value: run() }
  }

  /** Completes names in the format of readline: the candidates, and the part of the line that they replace. */
  readonly complete = (line: string): [string[], string] => {
    const [, owner, begun = ''] = /(?:([\w$][\w$.]*)\.)?([\w$]*)$/.exec(line) ?? []
    let object: unknown = globalThis
    for (const name of owner?.split('.') ?? []) object = (object as Record<string, unknown> | undefined)?.[name]
    return [namesOf(object).filter((name) => name.startsWith(begun)), begun]
  }
}

type Run = () => unknown

/** Returns undefined if the code is incomplete. @throws SyntaxError */
function compile(code: string): Run | undefined {
  return hasOwnAwait(code) ? (compileOne(code) ?? compileSeveral(code) ?? compileAwaiting(code)) : compilePlain(code)
}

/**
 * Whether `await` occurs outside of functions. A script takes it for a name there; in a static block it can be neither a
 * name nor an operator.
 */
function hasOwnAwait(code: string): boolean {
  return /\bawait\b/.test(code) && tryScript(`(class { static {${code}\n} })`) === undefined
}

function compilePlain(code: string): Run | undefined {
  const bare = withoutEnd(code)
  const declared = declarationsOf(bare)
  // A brace starts a document rather than a block.
  const rewritings = bare.startsWith('{') ? [`(${bare}\n)`] : []
  rewritings.push(declared === undefined ? code : `var ${declared}`)
  let reason: unknown
  for (const rewriting of rewritings) {
    try {
      return scriptOf(rewriting)
    } catch (error) {
      if (isUnfinished(rewriting, error)) return undefined
      // Report the error of the code as typed, not of a rewritten form.
      reason ??= error
    }
  }
  throw reason
}

/** One expression or declaration with `await`; undefined if it is something else. */
function compileOne(code: string): Run | undefined {
  const bare = withoutEnd(code)
  const expression = tryScript(`(async () => (${bare}\n))()`)
  const declared = declarationsOf(bare)
  if (expression !== undefined || declared === undefined) return expression
  // As assignments, so that the names persist.
  return tryScript(`(async () => void (${declared}\n))()`)
}

/**
 * Statements separated by semicolons, run one after the other, so that the names they declare persist and the last one
 * has a result. A semicolon separates if what comes before it is complete. Undefined if that does not fit the code.
 */
function compileSeveral(code: string): Run | undefined {
  const runs: Run[] = []
  let start = 0
  for (const { index } of withoutEnd(code).matchAll(/;/g)) {
    const statement = code.slice(start, index)
    if (/^;\s*else\b/.test(code.slice(index)) || endsInComment(statement)) continue
    const run = tryCompile(statement)
    if (run === undefined) continue
    runs.push(run)
    start = index + 1
  }
  const last = start === 0 ? undefined : tryCompile(code.slice(start))
  if (last === undefined) return undefined
  return async () => {
    for (const run of runs) await run()
    return last()
  }
}

/** Any statements with `await`, without a result. */
function compileAwaiting(code: string): Run | undefined {
  const run = tryScript(`(async () => {${code}\n})()`)
  if (run !== undefined) return run
  try {
    scriptOf(`(async () => {${code}`)
  } catch (error) {
    if (isUnfinished(`(async () => {${code}`, error)) return undefined
  }
  return compilePlain(code)
}

function tryCompile(code: string): Run | undefined {
  try {
    return hasOwnAwait(code) ? (compileOne(code) ?? tryScript(`(async () => {${code}\n})()`)) : compilePlain(code)
  } catch {
    return undefined
  }
}

/** Only a comment hides a parenthesis that does not belong there. */
function endsInComment(code: string): boolean {
  return tryScript(`(async () => {${code} )\n})()`) !== undefined
}

function withoutEnd(code: string): string {
  return code.trim().replace(/;+$/, '')
}

/** What follows `const`, `let` or `var`, if the code begins with one of them. */
function declarationsOf(bare: string): string | undefined {
  return /^(?:const|let|var)\s+([\s\S]+)$/.exec(bare)?.[1]
}

function tryScript(code: string): Run | undefined {
  try {
    return scriptOf(code)
  } catch {
    return undefined
  }
}

/** @throws SyntaxError */
function scriptOf(code: string): Run {
  const options = { filename: 'shell', importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER }
  const script = new Script(code, options)
  return () => script.runInThisContext()
}

/**
 * Whether more lines may complete the code. V8 reports the same error for an unclosed call and for an invalid one, and for
 * an unclosed comment and for a character that belongs nowhere.
 */
function isUnfinished(code: string, error: unknown, mayBeComment = true): boolean {
  if (!(error instanceof SyntaxError)) return false
  if (error.message === 'Unexpected end of input') return true
  if (error.message === 'Invalid or unexpected token' && mayBeComment) {
    try {
      scriptOf(`${code}*/`)
      return true
    } catch (closedError) {
      return isUnfinished(`${code}*/`, closedError, false)
    }
  }
  if (!error.message.startsWith('missing ) after')) return false
  for (let closed = 1; closed <= maxOpenParentheses; closed++) {
    try {
      scriptOf(`${code}${')'.repeat(closed)}`)
      return true
    } catch {}
  }
  return false
}

/** Returns the names of an object's own and inherited properties, except for those of Object.prototype. */
function namesOf(value: unknown): string[] {
  const names = new Set<string>()
  for (let object = value; object !== null && object !== undefined && object !== Object.prototype; ) {
    for (const name of Object.getOwnPropertyNames(object)) if (/^[A-Za-z_$][\w$]*$/.test(name)) names.add(name)
    object = Object.getPrototypeOf(object)
  }
  names.delete('constructor')
  return [...names].sort()
}

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
   * @returns the result, without awaiting it; undefined if the statement is incomplete
   * @throws whatever the code throws, including SyntaxError
   */
  evaluate(code: string): { readonly value: unknown } | undefined {
    const compiled = compile(code)
    return compiled === undefined ? undefined : { value: compiled.runInThisContext() }
  }

  /** Completes names in the format of readline: the candidates, and the part of the line that they replace. */
  readonly complete = (line: string): [string[], string] => {
    const [, owner, begun = ''] = /(?:([\w$][\w$.]*)\.)?([\w$]*)$/.exec(line) ?? []
    let object: unknown = globalThis
    for (const name of owner?.split('.') ?? []) object = (object as Record<string, unknown> | undefined)?.[name]
    return [namesOf(object).filter((name) => name.startsWith(begun)), begun]
  }
}

/** Returns undefined if the code is incomplete. @throws SyntaxError */
function compile(code: string): Script | undefined {
  let reason: unknown
  for (const rewriting of rewritings(code)) {
    try {
      return scriptOf(rewriting)
    } catch (error) {
      if (isUnfinished(rewriting, error)) return undefined
      // Report the error of the code as typed, not of a rewritten form; those only exist for await.
      reason ??= error
    }
  }
  throw reason
}

/** Yields possible rewritings of a statement, the likeliest first. */
function* rewritings(code: string): Generator<string> {
  const bare = code.trim().replace(/;+$/, '')
  // A brace starts a document rather than a block.
  if (bare.startsWith('{')) yield `(${bare}\n)`
  const [, declared] = /^(?:const|let|var)\s+([\s\S]+)$/.exec(bare) ?? []
  yield declared === undefined ? code : `var ${declared}`
  if (!/\bawait\b/.test(code)) return
  yield `(async () => (${bare}\n))()`
  // As assignments, so that the names persist.
  if (declared !== undefined) yield `(async () => void (${declared}\n))()`
  yield `(async () => {${code}\n})()`
}

function scriptOf(code: string): Script {
  return new Script(code, { filename: 'shell', importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER })
}

/** Whether more lines may complete the code. V8 reports the same error for an unclosed call and for an invalid one. */
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

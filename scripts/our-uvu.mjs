// Changes to uvu, which has not been changed for years.
const changes = [
  {
    // It assumes that `details` of an error is a string and that every error is an Error; otherwise it crashes while
    // reporting, and failures are counted but not described.
    from: "let { details, operator='' } = err;",
    to: `if (!(err instanceof Error)) err = new Error('not an Error: ' + String(err));
	let { operator='' } = err, details = typeof err.details === 'string' ? err.details : undefined;`
  },
  {
    // A process that ends while V8 compiles a function may wait for ever: the compiling thread for a collection by the
    // main thread, and that one for the compiler (https://github.com/nodejs/node/issues/54918). One in a hundred runs
    // of a short test was. While a timer runs, the main thread collects, and nothing is left to compile at its end.
    from: 'if (isNode) process.exitCode = code;',
    to: 'if (isNode) process.exitCode = code, setTimeout(() => {}, 50);'
  }
]

/** @param source the text of uvu/dist/index.mjs */
export function ourUvu(source) {
  for (const { from } of changes) if (!source.includes(from)) throw new Error(`uvu is another one: it has no ${from}`)
  return changes.reduce((text, { from, to }) => text.replace(from, () => to), source)
}

// uvu assumes that `details` of an error is a string and that every error is an Error; otherwise it crashes while
// reporting, and failures are counted but not described.
const original = "let { details, operator='' } = err;"
const careful = `if (!(err instanceof Error)) err = new Error('not an Error: ' + String(err));
	let { operator='' } = err, details = typeof err.details === 'string' ? err.details : undefined;`

/** @param source the text of uvu/dist/index.mjs */
export function uvuThatTells(source) {
  return source.replace(original, careful)
}

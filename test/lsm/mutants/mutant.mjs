/**
 * A mistake that somebody might make: what the store would do, edits of the source (the text stands in its file once),
 * and the test files that are to notice, the likeliest first.
 *
 * @typedef {{ readonly file: string, readonly find: string, readonly replace: string }} Edit
 * @typedef {{ readonly claim: string, readonly edits: readonly Edit[], readonly tests: readonly string[] }} Mutant
 */

/** @type {(file: string, find: string, replace: string) => Edit} */
export const edit = (file, find, replace) => ({ file: `src/${file}.ts`, find, replace })

/** @type {(claim: string, edits: Edit | readonly Edit[], ...tests: string[]) => Mutant} */
export const mutant = (claim, edits, ...tests) => ({
  claim,
  edits: Array.isArray(edits) ? edits : [edits],
  tests: tests.map((test) => `test/${test}.test.ts`)
})

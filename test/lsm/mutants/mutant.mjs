/**
 * A mistake that a developer might make: what the database would then do, the edits of the source (`find` occurs once in
 * its file), and the test files that should notice, the most likely one first.
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

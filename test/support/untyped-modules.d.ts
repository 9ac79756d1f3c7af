/** Types of modules that ship none. */
declare module 'abstract-level/test/index.js' {
  /** Runs the suite with tape; see abstract-level's README. */
  const suite: (options: { readonly test: unknown; readonly factory: (options?: object) => unknown }) => void
  export default suite
}

declare module 'tape' {
  const test: unknown
  export default test
}

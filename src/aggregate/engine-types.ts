/** What is used of mingo's types, which it does not export. */

/** Options of evaluations, with what belongs to the document at hand. */
export interface EngineOptions {
  update(locals: { readonly root?: unknown; readonly groupId?: unknown }): EngineOptions
}

export type Evaluate = (document: unknown, expression: unknown, options: EngineOptions) => unknown

/** An operator with its argument, not evaluated; accumulators are given an array of documents, or of values without an argument. */
export type Operator = (document: unknown, argument: unknown, options: EngineOptions) => unknown

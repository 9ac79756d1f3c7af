/** Options with their defaults filled in: all of them are there, and none is undefined, which counts as absent. */
export type Filled<Options> = { [Option in keyof Options]-?: Exclude<Options[Option], undefined> }

const progressLine =
  /^.* (?:(?:documents|tables|queries) {2}[\d,]+|[KMGT]?i?B {2}[\d.,]+ [KMGT]?i?B)\/s(?: {2}ETA [\d:]+)?\n/gm

/** What a command wrote to standard error, without the lines that it writes every few seconds where it takes that long. */
export function withoutProgress(stderr: string): string {
  return stderr.replace(progressLine, '')
}

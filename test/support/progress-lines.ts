const progressLine =
  /^.* (?:(?:documents|tables|queries) {2}[\d,]+|[KMGT]?i?B {2}[\d.,]+ [KMGT]?i?B)\/s(?: {2}ETA [\d:]+)?\n/gm

/** A command's standard error without the progress lines that it prints every few seconds. */
export function withoutProgress(stderr: string): string {
  return stderr.replace(progressLine, '')
}

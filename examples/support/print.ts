/** The examples print in the same way as the command line. */
export { formatBytes, formatCount, formatDuration, formatPercent, formatTable } from '../../src/cli/format.ts'
export { hasColours, prettyJson } from '../../src/cli/pretty-json.ts'
export { Progress } from '../../src/cli/progress.ts'

/**
 * False positives of the plain structure: P filters of M bits, R of them per pair, and in each of those K bits per id,
 * by hash. See docs/tuning.md.
 *
 * Where ids are hashed to positions, documents share them: at a position stand the pairs of every document that has a
 * bit there, as many as a compound Poisson distribution says. A textbook's formula, which takes every bit to be set with
 * the same probability, has no place for that.
 */
import { densityOf, type PostingsHistogram } from '../../bloom/sizing.ts'

export interface PlainParameters {
  /** P */
  readonly shards: number
  /** M */
  readonly bits: number
  /** R ≤ P */
  readonly rowsPerPair: number
  /** K */
  readonly bitsPerId: number
}

/** Of a distribution's tail. */
const negligible = 1e-9

/**
 * Probability that an id of the structure is found for a pair that it has not, over documents distributed like that.
 *
 * With d the density of a document's own bits, and D that of the others' at one position: a row passes when the
 * document's own pairs set it, at all K positions at once, or others do at each of them. Over R rows that is the mean of
 * (d + (1 − d)·D₁⋯D_K)^R, which the binomial theorem turns into moments of D.
 * @param histogram how many documents have how many pairs; they are all in the structure
 */
export function plainFalsePositiveRate(histogram: PostingsHistogram, parameters: PlainParameters): number {
  const { shards, bits, rowsPerPair, bitsPerId } = parameters
  const density = (postings: number): number => densityOf(postings, shards, rowsPerPair)
  const documents = countOf(histogram)
  const others = compoundPoisson(histogram, (documents * bitsPerId) / bits)
  const moments = Array.from({ length: rowsPerPair + 1 }, (_, power) =>
    others.reduce((sum, probability, postings) => sum + probability * density(postings) ** power, 0)
  )
  let rate = 0
  for (let postings = 0; postings < histogram.length; postings++) {
    const own = density(postings)
    let found = 0
    let combinations = 1
    for (let rows = 0; rows <= rowsPerPair; rows++) {
      found += combinations * own ** (rowsPerPair - rows) * (1 - own) ** rows * moments[rows]! ** bitsPerId
      combinations = (combinations * (rowsPerPair - rows)) / (rows + 1)
    }
    rate += ((histogram[postings] ?? 0) / documents) * found
  }
  return rate
}

/**
 * The textbook's rate: every bit is set with 1 − e^(−K·R·N·n/(P·M)), n the mean number of pairs.
 * @see Bloom, Space/time trade-offs in hash coding with allowable errors, 1970
 */
export function textbookRate(pairs: number, { shards, bits, rowsPerPair, bitsPerId }: PlainParameters): number {
  const fill = -Math.expm1((-bitsPerId * rowsPerPair * pairs) / (shards * bits))
  return fill ** (rowsPerPair * bitsPerId)
}

/**
 * Distribution of the pairs of as many documents as a Poisson variable says.
 * @see Panjer, Recursive evaluation of a family of compound distributions, 1981
 */
function compoundPoisson(histogram: PostingsHistogram, mean: number): number[] {
  const documents = countOf(histogram)
  const share = (pairs: number): number => (histogram[pairs] ?? 0) / documents
  const probabilities = [Math.exp(-mean * (1 - share(0)))]
  let sum = probabilities[0]!
  for (let pairs = 1; sum < 1 - negligible; pairs++) {
    let probability = 0
    for (let one = 1; one <= Math.min(pairs, histogram.length - 1); one++) {
      probability += one * share(one) * probabilities[pairs - one]!
    }
    probabilities.push((probability * mean) / pairs)
    sum += probabilities[pairs]!
    if (pairs > 100 * histogram.length) break
  }
  return probabilities
}

function countOf(histogram: PostingsHistogram): number {
  let documents = 0
  for (let pairs = 0; pairs < histogram.length; pairs++) documents += histogram[pairs] ?? 0
  return documents
}

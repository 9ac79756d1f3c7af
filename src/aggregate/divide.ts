/** Which stages parts of the documents can go through separately, before the results are merged. */
import type { Document } from '../model/types.ts'
import { sanitizeFilter } from '../query/sanitize.ts'
import type { ParsedStage } from './parse.ts'
import type { Collector, DivisibleStages, LeadingRead, PartialCollector, Stage } from './stage.ts'

/** Stages with a PartialCollector. */
const divisible = new Set(['$bucket', '$count', '$group', '$sort', '$sortByCount'])
/** Stages that a sort before them takes into account. */
const limiting = new Set(['$limit', '$skip'])

/**
 * @param parsed the whole pipeline
 * @param stages compiled from those that are not part of the read
 */
export function divisibleStages(
  read: LeadingRead,
  parsed: readonly ParsedStage[],
  stages: readonly Stage[]
): DivisibleStages | undefined {
  const collector = stages.findIndex((stage) => !isByDocument(stage))
  const stage = stages[collector]
  if (stage?.kind !== 'collect' || !divisible.has(stage.place.stage) || !yieldsMatches(read)) return undefined
  if (!(stage.begin() as PartialCollector).canDivide) return undefined
  let end = stage.place.position + 1
  while (limiting.has(parsed[end]?.place.stage ?? '')) end++
  return { collector, pipeline: parsed.slice(0, end).map(copyOf) }
}

/** Filters are the only part of a parsed pipeline that is still the caller's, who may change it before threads get it. */
function copyOf({ place: { stage }, spec }: ParsedStage): Document {
  return { [stage]: stage === '$match' ? sanitizeFilter(spec) : spec }
}

/** Whether it yields all its matches, in the order of the collection. */
function yieldsMatches({ sort, skip, limit, count, tally, sample }: LeadingRead): boolean {
  return [sort, count, tally, sample].every((each) => each === undefined) && skip === 0 && !Number.isFinite(limit)
}

function isByDocument({ kind }: Stage): boolean {
  return kind === 'each' || kind === 'expand'
}

/** Takes the documents of a part through such stages. */
export class DividedStages {
  readonly #stages: readonly Stage[]
  readonly #project: ((document: Document) => Document) | undefined
  readonly #collector: PartialCollector

  /**
   * @param stages up to the collector
   * @param project what they get of a document; undefined for all of it
   */
  constructor(stages: readonly Stage[], project: ((document: Document) => Document) | undefined) {
    this.#stages = stages.slice(0, -1)
    this.#project = project
    this.#collector = beginOf(stages.at(-1)) as PartialCollector
  }

  add(document: Document): void {
    this.#addTo(0, this.#project === undefined ? document : this.#project(document))
  }

  partial(): unknown {
    return this.#collector.partial()
  }

  #addTo(place: number, document: Document): void {
    const stage = this.#stages[place]
    if (stage === undefined) {
      this.#collector.add(document)
    } else if (stage.kind === 'each') {
      const result = stage.apply(document)
      if (result !== undefined) this.#addTo(place + 1, result)
    } else if (stage.kind === 'expand') {
      for (const result of stage.apply(document)) this.#addTo(place + 1, result)
    }
  }
}

function beginOf(stage: Stage | undefined): Collector {
  if (stage?.kind !== 'collect') throw new Error('The last stage is not a collector')
  return stage.begin()
}

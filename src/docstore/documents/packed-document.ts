/**
 * A decoded document in few bytes: its values in one text, its keys in the plan by which it is copied (copy-plan.ts).
 *
 * A generated tweet takes 1,240 bytes of V8's heap as an object and 470 so, in one object instead of some thirty.
 * Making the document out of it takes three times as long as copying the object, and a quarter of decoding its record (measured).
 *
 * Invariants:
 * 1. unpackDocument(packDocument(document, plan), plan) is what copyDocument(document) gives.
 * 2. It shares nothing with others but strings. Those of 13 characters and more keep the whole text in memory (V8 cuts no
 *    characters out of it): whoever packs documents bounds their size.
 */
import { ObjectId } from 'bson'
import type { Document } from '../../model/types.ts'
import type { CopyPlan } from './copy-plan.ts'
import { charactersOfDouble, PackedReader, shortStrings, smallIntegers, Tag } from './packed-reader.ts'

/** REQUIRES: the plan was made for the document. */
export function packDocument(document: Document, plan: CopyPlan): string {
  const parts: string[] = []
  packByPlan(document, plan, parts)
  return parts.join('')
}

/** Nobody else has a turn before it has read all. */
const reader = new PackedReader()

/** REQUIRES: the plan is that by which it was packed, and CopyPlans.check() ran in the same stretch of synchronous code. */
export function unpackDocument(packed: string, plan: CopyPlan): Document {
  reader.begin(packed)
  return plan.build(reader, plan) as Document
}

function packByPlan(value: object, plan: CopyPlan, parts: string[]): void {
  switch (plan.kind) {
    case 'any':
      packAny(value, parts)
      return
    case 'values': {
      const values = value as readonly unknown[]
      parts.push(charactersOfCount(values.length))
      for (const each of values) packPrimitive(each, parts)
      return
    }
    case 'elements': {
      const elements = value as readonly object[]
      const element = plan.children[0]!
      parts.push(charactersOfCount(elements.length))
      for (const each of elements) packByPlan(each, element, parts)
      return
    }
    case 'object': {
      const { keys, isNested } = plan.layout
      for (let i = 0, child = 0; i < keys.length; i++) {
        const each = (value as Document)[keys[i]!]
        if (isNested[i]) packByPlan(each as object, plan.children[child++]!, parts)
        else packPrimitive(each, parts)
      }
    }
  }
}

/** With its keys, and what else a plan would tell. */
function packAny(value: unknown, parts: string[]): void {
  if (typeof value !== 'object' || value === null) packPrimitive(value, parts)
  else if (Array.isArray(value)) {
    parts.push(String.fromCharCode(Tag.array), charactersOfCount(value.length))
    for (const element of value) packAny(element, parts)
  } else if (value instanceof Date) parts.push(String.fromCharCode(Tag.date), charactersOfDouble(value.getTime()))
  else if (value instanceof ObjectId) parts.push(String.fromCharCode(Tag.objectId), value.toHexString())
  else {
    const entries = Object.entries(value)
    parts.push(String.fromCharCode(Tag.object), charactersOfCount(entries.length))
    for (const [key, each] of entries) {
      packPrimitive(key, parts)
      packAny(each, parts)
    }
  }
}

function packPrimitive(value: unknown, parts: string[]): void {
  switch (typeof value) {
    case 'string': {
      const { length } = value
      if (length < shortStrings) parts.push(String.fromCharCode(length), value)
      else parts.push(String.fromCharCode(Tag.longString), charactersOfCount(length), value)
      return
    }
    case 'number':
      parts.push(charactersOfNumber(value))
      return
    case 'boolean':
      parts.push(String.fromCharCode(value ? Tag.true : Tag.false))
      return
    case 'bigint':
      parts.push(String.fromCharCode(Tag.bigint))
      packPrimitive(String(value), parts)
      return
    default:
      parts.push(String.fromCharCode(value === null ? Tag.null : Tag.undefined))
  }
}

function charactersOfNumber(value: number): string {
  if (!Number.isSafeInteger(value) || value < 0 || Object.is(value, -0)) {
    return String.fromCharCode(Tag.double) + charactersOfDouble(value)
  }
  if (value < smallIntegers) return String.fromCharCode(shortStrings + value)
  if (value < 2 ** 16) return String.fromCharCode(Tag.uint16, value & 255, value >>> 8)
  if (value >= 2 ** 32) return String.fromCharCode(Tag.integer) + charactersOfCount(value)
  return String.fromCharCode(Tag.uint32, value & 255, (value >>> 8) & 255, (value >>> 16) & 255, value >>> 24)
}

function charactersOfCount(count: number): string {
  let characters = ''
  let rest = count
  for (; rest >= 128; rest = Math.floor(rest / 128)) characters += String.fromCharCode(128 + (rest % 128))
  return characters + String.fromCharCode(rest)
}

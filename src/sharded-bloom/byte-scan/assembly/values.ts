/** Adds a node's value: its fact, its pair and its column key. For texts see text.ts. */
import { noteDate, noteNumber } from './columns'
import { DATE_TYPE } from './document'
import { addConstant, addDateFact, addDouble, addFact } from './pairs'
import { fillReserved } from './trace'

const NULL_TYPE: u32 = 1
const NUMBER_TYPE: u32 = 2
const BOOL_TYPE: u32 = 8
const SIZE_TAG: u32 = 16

// @ts-ignore: decorator
@inline
export function addNumber(node: usize, value: f64): void {
  addFact(node, NUMBER_TYPE)
  addDouble(node, NUMBER_TYPE, value)
  noteNumber(node, value)
}

/** @param time milliseconds since 1970 */
export function addDate(node: usize, time: f64): void {
  addDateFact(node)
  addDouble(node, DATE_TYPE, time)
  noteDate(node, time)
}

export function addNull(node: usize): void {
  addFact(node, NULL_TYPE)
  addConstant(node, 0, NULL_TYPE, 0)
}

export function addBoolean(node: usize, value: bool): void {
  addFact(node, BOOL_TYPE)
  addConstant(node, value ? 2 : 1, BOOL_TYPE, value ? 1 : 0)
}

/** Adds the length of an array that ends. @param trace its reserved trace entry; 0 for none */
// @ts-ignore: decorator
@inline
export function addSize(node: usize, elements: u32, trace: usize): void {
  fillReserved(trace)
  if (elements == 0) addConstant(node, 3, SIZE_TAG, 0)
  else addDouble(node, SIZE_TAG, elements)
}

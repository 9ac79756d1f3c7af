/** Bounds what a transaction may change: all of it is kept in memory, and committed as one batch. */
import { PetalError } from '../../model/errors.ts'

/** MongoDB recommends the same limit. */
export const maxChangedDocuments = 1000
/** Characters of records, before or after the change, whichever are more: both are kept. */
const maxChangedCharacters = 16 * 1024 * 1024

export class Room {
  #documents = 0
  #characters = 0

  /** @throws PetalError TransactionTooLarge, with nothing taken */
  take(documents: number, characters: number): void {
    const all = { documents: this.#documents + documents, characters: this.#characters + characters }
    assertDocuments(all.documents)
    assertCharacters(all.characters)
    this.#documents = all.documents
    this.#characters = all.characters
  }
}

/** @throws PetalError TransactionTooLarge */
export function assertDocuments(documents: number): void {
  if (documents > maxChangedDocuments) throw tooLarge(`change ${maxChangedDocuments} documents, and this would be more`)
}

/** @throws PetalError TransactionTooLarge */
export function assertCharacters(characters: number): void {
  if (characters <= maxChangedCharacters) return
  throw tooLarge(`change documents of ${maxChangedCharacters} characters in all, and this would be more`)
}

function tooLarge(why: string): PetalError {
  return new PetalError('TransactionTooLarge', `A transaction can ${why}`, {
    details: { maxDocuments: maxChangedDocuments, maxCharacters: maxChangedCharacters }
  })
}

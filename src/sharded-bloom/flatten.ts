export interface FlatDocument {
  /** True when JSON.stringify(document) holds the document exactly (ObjectId `_id` aside). */
  readonly isPlain: boolean
}

/** What finds read: an open collection, or what a transaction has not changed of it. */
import type { OpenCollection } from '../open-collection.ts'
import type { ReadView } from './read-view.ts'

export interface FindSource extends Pick<OpenCollection, 'declared' | 'state' | 'autoRebuild'> {
  /**
   * Captures what is committed now. The caller closes the view.
   * @param fillsCache false if the documents that are read are about to be replaced or deleted
   */
  capture(fillsCache?: boolean): ReadView
}

/** The module's exports. Their contract is in ../scanner-module.ts. */
export { addColumn } from './columns'
export { EXTENDED_JSON, NOT_HANDLED, OBJECT_ID, SCANNED, TRACED, UNKNOWN, WRAPPED } from './document'
export * from './layout'
export { addNode, FACTS, IRREGULAR, resetFacts, resetNodes, rootNode, setIdNode } from './nodes'
export { hashesLeft, isIrregular, resetPairs, setHashesFacts, slotCount } from './pairs'
export { addDoublePair, addTextPair, WIDE } from './private-pairs'
export { countSample, rehashSample, sampledMembers, sampledTextBytes, uncountedEntries } from './sample'
export { scan, scanAmong } from './scan'
export { tracedCount } from './trace'
export { hasWrappers } from './wrappers'
export {
  BEGIN_ARRAY,
  BEGIN_OBJECT,
  DATE,
  END_ARRAY,
  END_OBJECT,
  FALSE,
  INT32,
  INTEGER,
  NOT_PLAIN,
  NULL,
  OBJECT_ID_TEXT,
  PIECE_SHIFT,
  scannedPairs,
  TEXT,
  TRUE,
  VERBATIM,
  write
} from './write'

export { Census, leastTweets } from './census.ts'
export {
  type Query,
  type QueryClass,
  type QueryClassName,
  queryClasses,
  queryClassesOf,
  queryClassNames
} from './query-classes.ts'
export { TweetSample } from './sample.ts'
export { generateTweets, type Tweet, type TweetOptions } from './tweets.ts'

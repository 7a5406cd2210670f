/** The URLs of Redis as people write them. */
import {
  type RedisServers,
  RedisUrlRefused,
  readRedisUrl,
  readRedisUrls,
  UNREADABLE_HOST,
} from '../redis/endpoint.ts'
import { createStoreUrl } from './store-url.ts'

const storeUrl = createStoreUrl({
  scheme: /^rediss?:\/\//,
  refusalOf: (text) => refusalOf(() => readRedisUrl(text)),
  unreadablePlace: UNREADABLE_HOST,
})

export const isRedisUrl = storeUrl.isUsable

export const explainRedisUrl = (text: string): string | null => storeUrl.explain(text, '')

/** Returns what is wrong with URLs together, each of which can be used by itself. */
export const refusalOfTogether = (servers: RedisServers): string | null =>
  refusalOf(() => readRedisUrls(servers))

function refusalOf(read: () => unknown): string | null {
  try {
    read()
    return null
  } catch (error) {
    if (error instanceof RedisUrlRefused) return error.message
    throw error
  }
}

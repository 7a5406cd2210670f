/** The part of autocannon that the bench uses; the package brings no types. */
declare module 'autocannon' {
  import type { EventEmitter } from 'node:events'

  export interface BuiltRequest {
    method?: string
    path?: string
    body?: string
    headers?: Record<string, string>
  }

  export interface RequestRule extends BuiltRequest {
    /** It is called before each request. */
    setupRequest?(request: BuiltRequest): BuiltRequest
    onResponse?(status: number, body: string): void
  }

  export interface Client {
    setRequests(requests: RequestRule[]): void
  }

  export interface Options {
    url: string
    connections: number
    /** Seconds. */
    duration?: number
    /** It replaces the duration: so many requests are sent in all. */
    amount?: number
    /** Seconds until a request counts as lost. */
    timeout?: number
    /** Requests a second, all connections together. */
    overallRate?: number
    sampleInt?: number
    setupClient?(client: Client): void
  }

  export interface Run extends EventEmitter {
    stop(): void
  }

  export default function autocannon(options: Options, done: (error: Error | null) => void): Run
}

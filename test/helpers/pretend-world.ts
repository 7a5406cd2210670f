/** The world outside as a test wants it: hosts answered by functions, addresses by a table. Nothing leaves the machine. */
import type { Network } from '../../src/platform/guarded-fetch.ts'

export interface WorldRequest {
  url: URL
  method: string
  headers: Headers
  form: URLSearchParams
}

export type Host = (request: WorldRequest) => Response | object | Promise<Response | object>

export interface World extends Network {
  requests: WorldRequest[]
}

/** Every host name is that of a public server unless `addresses` says else. */
export function createWorld(hosts: Record<string, Host>, addresses: Record<string, string[]> = {}): World {
  const requests: WorldRequest[] = []
  return {
    requests,
    resolve: async (host) => addresses[host] ?? ['1.1.1.1'],
    async fetch(address, init) {
      const url = new URL(address)
      const form = new URLSearchParams(typeof init.body === 'string' ? init.body : String(init.body ?? ''))
      const request = { url, method: init.method ?? 'GET', headers: new Headers(init.headers), form }
      requests.push(request)
      const host = hosts[url.host]
      if (!host) throw new TypeError(`no host ${url.host}`)
      const answer = await host(request)
      return answer instanceof Response ? answer : Response.json(answer)
    },
  }
}

/** The part of oidc-provider (which brings no types) that the tests use. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  interface Account {
    accountId: string
    claims(): { sub: string; [claim: string]: unknown }
  }

  export default class Provider {
    constructor(
      issuer: string,
      configuration: {
        clients: Record<string, unknown>[]
        findAccount(context: unknown, id: string): Promise<Account>
        claims: Record<string, string[]>
        jwks: { keys: unknown[] }
        cookies: { keys: string[] }
        [setting: string]: unknown
      },
    )
    callback(): (request: IncomingMessage, response: ServerResponse) => void
  }
}

/** Calls of administration on a service of a test, as the command line makes them: by its operator `root`. */
import type { Answer } from './api-client.ts'
import type { TestService } from './service.ts'

export type AdminCall = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer>

/** `path`: under /admin/v1. */
export function createAdminClient(service: TestService): AdminCall {
  return async (method, path, body, headers = {}) => {
    const text = body === undefined ? null : JSON.stringify(body)
    const answer = await service.inside.administration.handle(
      new Request(`http://administration/admin/v1/${path}`, {
        method,
        headers: {
          'x-operator': 'root',
          ...(text !== null && {
            'content-type': 'application/json',
            'content-length': String(Buffer.byteLength(text)),
          }),
          ...headers,
        },
        body: text,
      }),
    )
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Answer['body'] }
  }
}

/** The last code of 16 letters that a message to this destination holds. */
export const letterCodeIn = (texts: string[]): string | undefined =>
  texts.flatMap((text) => /[0-9A-Z]{4}(-[0-9A-Z]{4}){3}/.exec(text)?.[0] ?? []).at(-1)

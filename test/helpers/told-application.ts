/** An application's side of the back channel: what it was told, and what it answers. */
import { decodeJwt } from 'jose'

export interface Told {
  url: string
  method: string
  token: string
}

export type ToldApplication = ReturnType<typeof openToldApplication>

export function openToldApplication() {
  const received: Told[] = []
  let answer = (): Response | Promise<Response> => new Response(null)
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    async fetch(request) {
      const form = new URLSearchParams(await request.text())
      received.push({ url: request.url, method: request.method, token: form.get('logout_token') ?? '' })
      return answer()
    },
  })
  const sidOf = ({ token }: Told) => decodeJwt(token).sid
  return {
    address: `http://127.0.0.1:${server.port}/backchannel-logout`,
    received,
    of: (sid: string) => received.filter((told) => sidOf(told) === sid),
    answerWith: (next: typeof answer) => {
      answer = next
    },
    answerStatus: (status: number) => {
      answer = () => new Response(null, { status, headers: { location: '/elsewhere' } })
    },
    hang: () => {
      answer = () => new Promise(() => {})
    },
    close: () => server.stop(true),
  }
}

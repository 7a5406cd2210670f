/** The types of `call`: its body and its answer follow from method and path, as docs/openapi.json describes them. */
import type { paths } from './api.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** `sessions/{id}` as a type of the texts that fit it. */
type Filled<P extends string> = P extends `${infer Before}{${string}}${infer After}`
  ? `${Before}${string}${Filled<After>}`
  : P

type Described<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<Lowercase<M>, object> ? P : never
}[keyof paths]

/** A path below `/api/v1/auth/`, with a query where the route takes one. */
export type PathOf<M extends Method> = {
  [P in Described<M>]: Filled<P> | `${Filled<P>}?${string}`
}[Described<M>]

type Plain<Given extends string> = Given extends `${infer Path}?${string}` ? Path : Given

/** `passkeys/login` is a route of its own, though it would fit `passkeys/{id}` too. */
type Route<M extends Method, Given extends string> =
  Plain<Given> extends Described<M>
    ? Plain<Given>
    : { [P in Described<M>]: Plain<Given> extends Filled<P> ? P : never }[Described<M>]

type Operation<M extends Method, Given extends string> = {
  [P in Route<M, Given>]: paths[P] extends Record<Lowercase<M>, infer O> ? O : never
}[Route<M, Given>]

type Content<T> = T extends { content: { 'application/json': infer Body } } ? Body : never

/** The client repeats the password where the service wants it twice. */
type Completed<Body> = Body extends { password_confirmation: string }
  ? Omit<Body, 'password_confirmation'> & { password_confirmation?: string }
  : Body

export type BodyOf<M extends Method, P extends string> =
  Operation<M, P> extends { requestBody?: infer Body }
    ? Completed<Content<NonNullable<Body>>>
    : Record<string, never>

export type AnswerOf<M extends Method, P extends string> =
  Operation<M, P> extends { responses: infer Answers } ? Content<Answers[keyof Answers]> : never

type Ours = 'password_confirmation' | 'device_fingerprint' | 'device_token' | 'login_token'

/** The body of a route without what the client adds. */
export type WithoutOurs<P extends PathOf<'POST'>> = Omit<BodyOf<'POST', P>, Ours>

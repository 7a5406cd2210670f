/** An interface as its documentation describes it. */
import type { Tag } from './openapi-tags.ts'

export interface DocumentationOptions {
  /** Clients reach the service there; the page sends its trial requests there. */
  baseUrl: string
  version: string
  addresses: { page: string; document: string; script: string }
  /** It stands in the title of the page. */
  title: string
  description(): Promise<InterfaceDescription>
}

/** The description of an interface, beside its operations. */
export interface InterfaceDescription {
  introduction: string
  tags: Tag[]
  securitySchemes: Record<string, object>
  /** Adds to the description that is gathered from the routes. */
  complete(gathered: unknown): unknown
}

/** Internals of an Elysia app by which @elysiajs/swagger reads the routes of the app that uses it. */
export type RoutesOf = Record<'getGlobalRoutes' | 'getGlobalDefinitions', () => unknown>

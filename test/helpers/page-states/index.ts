/**
 * Every state of the pages as the service gives it: real people walk there. The rules for pages, axe and the pictures of the
 * documents are over these.
 */
import type { TestService } from '../service.ts'
import { walkAccount } from './account.ts'
import { walkWaysIn } from './ways-in.ts'
import { type PageState, startWalk, type World } from './world.ts'

export { type PageState, startWorld, type World } from './world.ts'

export async function walkPages(world: World, language = 'en'): Promise<PageState[]> {
  const walk = startWalk(world, language)
  await walkWaysIn(walk)
  await walkAccount(walk)
  return walk.states
}

export interface PageFile {
  type: string
  text: string
  bytes: Uint8Array
}

/** The files that these pages load, by their paths. */
export async function filesOf(
  { url }: Pick<TestService, 'url'>,
  states: readonly PageState[],
): Promise<Map<string, PageFile>> {
  const paths = new Set(states.flatMap(({ html }) => html.match(/\/pages\/[\w.]+/g) ?? []))
  const files = new Map<string, PageFile>()
  for (const path of paths) {
    const answer = await fetch(url + path)
    if (!answer.ok) continue
    const bytes = await answer.bytes()
    files.set(path, {
      type: answer.headers.get('content-type') ?? '',
      text: new TextDecoder().decode(bytes),
      bytes,
    })
  }
  return files
}

/** Reading an OpenAPI document: what a reference points to. */

// biome-ignore lint/suspicious/noExplicitAny: a document is read by paths, its type would be the whole of OpenAPI
type Node = any

/** The part that `node` refers to; a part that is no reference is itself. */
export function resolveReference(document: Node, node: Node): Node {
  if (typeof node?.$ref !== 'string') return node
  const [, ...names] = node.$ref.split('/')
  return names.reduce((part: Node, name: string) => part[name], document)
}

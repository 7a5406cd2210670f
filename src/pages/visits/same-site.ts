/**
 * The check that a form comes from a page of ours: by what the browser says where it says something, else by its flow.
 */

interface FormOrigin {
  /** The headers of the request. */
  headers: { get(name: string): string | null }
  /** The origin of the pages. */
  own: string
  /** True if the form brought a flow of this browser. */
  hasOwnFlow: boolean
}

export function isFromOurPage({ headers, own, hasOwnFlow }: FormOrigin): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin'
  const origin = headers.get('origin')
  return origin === null ? hasOwnFlow : origin === own
}

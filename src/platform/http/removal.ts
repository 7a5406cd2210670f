/** Removals take a body, which some clients and proxies drop with DELETE: each of them is there as `POST …/remove`, too. */

interface RemovalDetail {
  operationId: string
  description?: string
}

/** The description of the same operation by POST. */
export const byPost = <Detail extends RemovalDetail>(detail: Detail): Detail => ({
  ...detail,
  operationId: `${detail.operationId}ByPost`,
  description: `Does what DELETE does, for clients that send no body with it. ${detail.description}`,
})

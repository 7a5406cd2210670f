/** The two parts of `Display Name <name@host>`, as the configuration has it. */
export interface NamedAddress {
  /** Without its quotes; empty where there is none. */
  name: string
  address: string
}

/** Expects what `isMailbox` takes. The name is read here, since a reader of headers would take brackets in it for a comment. */
export function parseMailbox(text: string): NamedAddress {
  const [, name = '', address = text.trim()] = /^([^<]*)<([^<>]+)>\s*$/.exec(text) ?? []
  return {
    name: name
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .trim(),
    address,
  }
}

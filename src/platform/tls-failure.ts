/** Tells whether a request failed at its certificate or handshake, by the code of the error. */
export const isTlsFailure = (error: unknown): boolean =>
  /CERT|TLS|SSL|EPROTO|SELF_SIGNED|ISSUER|VERIFY/.test(
    String((error as { code?: unknown } | null)?.code ?? ''),
  )

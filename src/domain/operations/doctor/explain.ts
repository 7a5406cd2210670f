/** Says why something outside could not be reached, and what to do about it. */

/** `key`: what names it in the configuration. */
const remedies: [RegExp, string][] = [
  [/28P01|28000|password authentication|SASL/, 'correct the user and the password in KEY'],
  [/WRONGPASS|NOAUTH/, 'correct the user and the password in KEY'],
  [/NOPERM/, 'let that user write and read every key under redis.key_prefix'],
  [/3D000/, 'create that database, or correct its name'],
  [/53100|ENOSPC|EDQUOT/, 'make space on its disk, or raise its quota'],
  [/read-only|READONLY|25006/, 'it takes no writes: name the primary in KEY, or make space on its disk'],
  [/\(OOM\)/, 'it is full: raise maxmemory of Redis'],
  [/MISCONF/, 'it could not save to its disk, and takes no writes until it can: look at the log of Redis'],
  [/smtp_auth/, 'correct username and password in [KEY], or how the server lets them in'],
  [/ECONNREFUSED|ECONNRESET|smtp_connection/, 'nothing listens there: start it, or correct host and port'],
  [/ENOTFOUND|EAI_|DNS/i, 'the host is unknown: correct its name, or the name servers of this machine'],
  [
    /TIMEDOUT|TIMEOUT|timed out|no answer|\(CLOSED\)/i,
    'nothing answers: correct host and port, or open the firewall between',
  ],
  [
    /CERT|SELF_SIGNED|ISSUER|VERIFY|ALTNAME|smtp_tls|TLS|SSL/i,
    'its certificate is not trusted for this host, or it does not speak TLS here: correct host and port, or name the authority in NODE_EXTRA_CA_CERTS (for a mail server also ca_file)',
  ],
]

export function explainFailure(error: unknown, key = 'the configuration'): string {
  const said = describe(error)
  // An error of poterne's own names its key and says what to do.
  const own = said.startsWith(`${key}: `) ? said.slice(key.length + 2) : said
  const remedy = remedies.find(([pattern]) => pattern.test(own))?.[1]
  return remedy ? `${own}: ${remedy.replaceAll('KEY', key)}` : own
}

/** The innermost cause, with its code. */
function describe(error: unknown): string {
  const { code, message, cause } = (error ?? {}) as { code?: unknown; message?: unknown; cause?: unknown }
  if (cause instanceof Error && !String(message).includes(': ')) return describe(cause)
  const line = typeof message === 'string' ? message.split('\n', 1)[0] : ''
  // Bun ends its sentences, and asks back.
  const said = line?.replace(/\.( Is the computer able to access the url\?)?$/, '') || 'unknown cause'
  return typeof code === 'string' && !said.includes(code) ? `${said} (${code})` : said
}

/** Says why something outside could not be reached, and what to do about it. */

const OF_DATABASE = /^database\.url$/
const UNTRUSTED = 'its certificate is not trusted for this host'

/** The first that fits counts. KEY names it in the configuration; a third part tells of which keys alone it is true. */
const remedies: readonly (readonly [said: RegExp, remedy: string, of?: RegExp])[] = [
  [
    /no encryption|SSL off|SSL (connection is )?required|connection is insecure/i,
    'it lets this user in over TLS alone, or not from this machine: add sslmode=verify-full to KEY (sslmode=require encrypts, and verifies nothing), or a line to its pg_hba.conf',
    OF_DATABASE,
  ],
  [
    /pg_hba\.conf/,
    'it does not let this user into that database from this machine: correct both in KEY, or add a line to its pg_hba.conf',
  ],
  [
    /before secure TLS/,
    'it closes the connection where TLS should begin, as a server without TLS does: turn TLS on there, or take it out of KEY (sslmode=disable), which sends everything in clear',
    OF_DATABASE,
  ],
  [/parameter ssl\w+ names a file/, 'correct the path in KEY, and let the user of the service read the file'],
  [/28P01|28000|password authentication|SASL/, 'correct the user and the password in KEY'],
  [/WRONGPASS|NOAUTH/, 'correct the user and the password in KEY'],
  [/NEEDS_TLS/, 'it speaks TLS on that port: write rediss:// in KEY'],
  [/WITHOUT_TLS/, 'it speaks no TLS on that port: write redis:// in KEY, or name its port with TLS'],
  [
    /53300/,
    'it takes no more connections: raise max_connections there (or the limit of the database or user), or lower database.pool_size of every replica',
  ],
  [/3D000/, 'create that database, or correct its name'],
  [/53100|ENOSPC|EDQUOT|disk is full/, 'make space on its disk, or raise its quota'],
  [
    /read-only|READONLY|25006/,
    'it takes no writes: make space on its disk, or mount it for writing',
    /^storage\.data_dir$/,
  ],
  [/read-only|READONLY|25006/, 'it takes no writes: name the primary in KEY, or make space on its disk'],
  [/\(OOM\)/, 'it is full: raise maxmemory of Redis'],
  [/MISCONF/, 'it could not save to its disk, and takes no writes until it can: look at the log of Redis'],
  [/smtp_auth/, 'correct username and password in [KEY], or how the server lets them in'],
  [
    /ECONNRESET/,
    'it closes the connection: correct host and port, and look whether it speaks TLS on that port',
  ],
  [/ECONNREFUSED|smtp_connection/, 'nothing listens there: start it, or correct host and port'],
  [/ENOTFOUND|EAI_|DNS/i, 'the host is unknown: correct its name, or the name servers of this machine'],
  [
    /TIMEDOUT|TIMEOUT|timed out|no answer|\(CLOSED\)/i,
    'nothing answers: correct host and port, or open the firewall between',
  ],
  [/HAS_EXPIRED|has expired/, `${UNTRUSTED}, since it has expired: renew it`],
  [
    /ALTNAME/,
    `${UNTRUSTED}, since it names another one: correct the host, or have a certificate made for it`,
  ],
  [
    /CERT|SELF_SIGNED|ISSUER|VERIFY/,
    `${UNTRUSTED}: name the authority that signed it in sslrootcert of KEY`,
    OF_DATABASE,
  ],
  [
    /CERT|SELF_SIGNED|ISSUER|VERIFY|smtp_tls|TLS|SSL/i,
    `${UNTRUSTED}, or it does not speak TLS here: correct host and port, or name the authority in NODE_EXTRA_CA_CERTS (for a mail server also ca_file)`,
  ],
]

export function explainFailure(error: unknown, key = 'the configuration'): string {
  const said = describe(error)
  // An error of poterne's own names its key and says what to do.
  const own = said.startsWith(`${key}: `) ? said.slice(key.length + 2) : said
  const remedy = remedies.find(([pattern, , of]) => pattern.test(own) && (of?.test(key) ?? true))?.[1]
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

/** The mail servers of the configuration, and what DNS says about the domain of the sender. */

import type { SendOutcome } from '../../domain/messages/senders/sender.ts'
import { createSmtpSenders } from '../../domain/messages/smtp/mail-servers.ts'
import type { Config } from '../../platform/config/types.ts'
import {
  type Finding,
  failure,
  type KeyedFinding,
  type OutsideContext,
  ok,
  warning,
  worstOf,
} from './check.ts'
import { explainFailure } from './explain.ts'

const NONE = ok('no mail server is configured')

/** Connects to each server, encrypts and authenticates, as for a message. */
export const examineMailServers = (config: Config): Promise<KeyedFinding[]> =>
  ofEachServer(config, 'it answers', (sender) => sender.verify())

export const checkMailServer = async ({ config }: OutsideContext): Promise<Finding> =>
  worstOf((await examineMailServers(config)).map(named), NONE)

/** Not every server says it here: some refuse a sender only with the message. */
export const checkMailSender = async ({ config }: OutsideContext): Promise<Finding> => {
  const findings = await ofEachServer(config, 'it takes mail from this sender', (sender) =>
    sender.verifySender(),
  )
  return worstOf(findings.map(named), NONE)
}

const named = ({ key, level, message }: KeyedFinding): Finding => ({
  level,
  message: message.startsWith(key) ? message : `${key}: ${message}`,
})

type Sender = ReturnType<typeof createSmtpSenders>[number]['sender']

const ofEachServer = (
  config: Config,
  does: string,
  ask: (sender: Sender) => Promise<SendOutcome>,
): Promise<KeyedFinding[]> =>
  Promise.all(
    createSmtpSenders(config).map(async ({ name, server, sender }) => {
      const { outcome, detail, reason } = await ask(sender).finally(() => sender.close())
      const security = server.security === 'none' ? 'in clear' : server.security
      const way = server.username === null ? security : `${security}, authenticated`
      if (outcome === 'sent') return { key: name, ...ok(`${does} (${way})`) }
      const said = reason ? `${detail} ${reason}` : detail
      const isSenderRefused = /^smtp_[45]\d\d$/.test(detail)
      return {
        key: name,
        ...failure(
          isSenderRefused
            ? `${name} refuses ${config.smtp?.from}: ${said}: allow that sender there, or correct smtp.from`
            : explainFailure(new Error(said), name),
        ),
      }
    }),
  )

/** The domain whose records count: of the address in `smtp.from`. */
function senderDomain({ smtp }: Config): string | null {
  const address = /<([^<>]+)>\s*$/.exec(smtp?.from ?? '')?.[1] ?? smtp?.from ?? ''
  const domain = address.split('@')[1]?.trim().toLowerCase() ?? ''
  // Of an address literal, and of a name that only this network knows, DNS says nothing.
  return /^[^[\]]+\.[a-z][a-z\d-]*$/.test(domain) ? domain : null
}

type Records = { found: string[] } | { unknown: string }

/** The TXT records of a name, each joined from its parts. */
async function recordsOf({ resolver }: OutsideContext, name: string): Promise<Records> {
  try {
    return { found: (await resolver.resolveTxt(name)).map((parts) => parts.join('')) }
  } catch (error) {
    const { code = 'unknown' } = error as { code?: string }
    return code === 'ENOTFOUND' || code === 'ENODATA' ? { found: [] } : { unknown: code }
  }
}

const unanswered = (code: string) =>
  warning(
    `the name servers do not answer (${code}): look at those of this machine, or name one with --resolver`,
  )

async function ofDomain(context: OutsideContext, examine: (domain: string) => Promise<Finding>) {
  if (context.config.smtp === null) return NONE
  const domain = senderDomain(context.config)
  return domain === null ? ok('the domain of smtp.from is not in the public DNS') : examine(domain)
}

export const checkSpf = (context: OutsideContext): Promise<Finding> =>
  ofDomain(context, async (domain) => {
    const records = await recordsOf(context, domain)
    if ('unknown' in records) return unanswered(records.unknown)
    const spf = records.found.filter((text) => /^v=spf1( |$)/i.test(text))
    const [record = ''] = spf
    if (spf.length === 0)
      return warning(
        `${domain} has no SPF record, so that mail may be taken for spam: add the TXT record that your mail provider names`,
      )
    if (spf.length > 1)
      return failure(
        `${domain} has ${spf.length} SPF records, which counts as none: join them into one (RFC 7208)`,
      )
    if (/\+?all\b/i.test(record) && !/[-~?]all\b/i.test(record))
      return failure(`the SPF record of ${domain} lets everybody send for it: end it with ~all or -all`)
    return ok(`${domain}: ${record}`)
  })

/** The policy may be that of the domain, or of one above it, which its owner may have set for all below. */
export const checkDmarc = (context: OutsideContext): Promise<Finding> =>
  ofDomain(context, async (domain) => {
    const labels = domain.split('.')
    for (let i = 0; i < labels.length - 1; i++) {
      const records = await recordsOf(context, `_dmarc.${labels.slice(i).join('.')}`)
      if ('unknown' in records) return unanswered(records.unknown)
      const dmarc = records.found.filter((text) => /^v=DMARC1\s*;/i.test(text))
      if (dmarc.length > 1)
        return failure(`_dmarc.${domain} has ${dmarc.length} records: keep one (RFC 7489)`)
      if (dmarc[0] !== undefined) return ok(`${domain}: ${dmarc[0]}`)
    }
    return warning(
      `${domain} has no DMARC record, without which large providers refuse mail: add the TXT record _dmarc.${domain} with "v=DMARC1; p=none" at least`,
    )
  })

export const checkDkim = (context: OutsideContext): Promise<Finding> =>
  ofDomain(context, async (domain) => {
    const selector = context.config.smtp?.dkimSelector ?? null
    if (selector === null)
      return ok('not checked: set smtp.dkim_selector to what your mail provider signs with')
    const name = `${selector}._domainkey.${domain}`
    const records = await recordsOf(context, name)
    if ('unknown' in records) return unanswered(records.unknown)
    const keys = records.found.map((text) => /(?:^|;)\s*p=([^;]*)/.exec(text)?.[1]?.trim())
    const key = keys.find((found) => found !== undefined)
    if (key === undefined)
      return failure(
        `there is no key at ${name}: add the TXT or CNAME record that your mail provider names, or correct smtp.dkim_selector`,
      )
    return key === ''
      ? failure(`the key at ${name} is revoked: set the selector in use`)
      : ok(`${name} has a key`)
  })

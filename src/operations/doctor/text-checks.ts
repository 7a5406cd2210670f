/** The check that SMS keep to the alphabet in which 160 characters fit into one. */

import { messagePurposes } from '../../domain/messages/outbox/message.ts'
import { createSamples } from '../../domain/messages/rendering/sample-messages.ts'
import { serviceName } from '../../platform/config/service-name.ts'
import type { Config } from '../../platform/config/types.ts'
import { type Catalog, createCatalog } from '../../texts/catalog.ts'
import { builtInTags, type Language } from '../../texts/languages.ts'
import { type SmsLength, smsLength } from '../../texts/sms-length.ts'
import { type Finding, type OutsideContext, ok, warning } from './check.ts'

/** A name that every text was written for. */
const PLAIN_NAME = 'Poterne'

/** Compared with the built-in texts and a plain name: what a language needs by itself is not the operator's to change. */
export function checkSmsTexts({ config }: OutsideContext): Finding {
  if (config.sms.gateways.length === 0) return ok('none is sent: no gateway is configured')
  const { language } = config.server
  const [builtIn, own] = [createCatalog({ language }), createCatalog({ language, ...config.texts })]
  const plain = { ...config, texts: { ...config.texts, serviceName: PLAIN_NAME } }
  const ownTexts = smsOf(plain, own, own.tags)
  const byName = firstWorse(smsOf(config, own, own.tags), ownTexts)
  if (byName !== null)
    return warning(
      `${costOf(byName, `"${serviceName(config)}"`)}: set texts.service_name to a shorter name in plain letters`,
    )
  const byTexts = firstWorse(smsOf(plain, own, builtInTags), smsOf(plain, builtIn, builtInTags))
  return byTexts === null
    ? ok('every SMS keeps to the alphabet of SMS, where its language allows that')
    : warning(`${costOf(byTexts, 'a text of your own')}: change it in texts.directory`)
}

function firstWorse(lengths: SmsLength[], before: SmsLength[]): SmsLength | null {
  const isWorse = ({ alphabet, segments }: SmsLength, i: number) =>
    alphabet !== before[i]?.alphabet || segments > (before[i]?.segments ?? 1)
  return lengths.find(isWorse) ?? null
}

const costOf = ({ alphabet, foreign, segments }: SmsLength, what: string) =>
  alphabet === 'UCS-2' && foreign.length < 10
    ? `${what} has ${foreign.join(' ')}, with which an SMS holds 70 characters instead of 160`
    : `with ${what} an SMS takes ${segments} parts, each of which is charged`

function smsOf(config: Config, catalog: Catalog, tags: readonly Language[]): SmsLength[] {
  const sample = createSamples(config, catalog)
  return tags.flatMap((language) =>
    messagePurposes.map((purpose) => smsLength(sample(language, purpose, 'sms').text)),
  )
}

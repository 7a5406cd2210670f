/** `poterne gateways try` and `poterne mail try`: each sends one marked test message and prints every step of it. */
import { Command } from 'commander'
import { parseIdentifier } from '../../domain/foundation/identifiers/identifier.ts'
import type { RenderedMessage } from '../../domain/messages/senders/sender.ts'
import { covers, createGateway } from '../../domain/messages/sms-gateways/gateways.ts'
import { requestOf } from '../../domain/messages/sms-gateways/request.ts'
import { createEmailSender } from '../../domain/messages/smtp/mail-servers.ts'
import { systemClock } from '../../platform/clock.ts'
import { serviceName } from '../../platform/config/service-name.ts'
import type { Config, GatewayConfig } from '../../platform/config/types.ts'
import { reach, type Step } from '../../platform/reach.ts'
import { type CommandOptions, configOption, requireConfig } from './configuration.ts'
import { CommandFailure } from './failure.ts'
import type { CommonOptions } from './option-values.ts'
import { print, printJson } from './print.ts'

export function gatewaysCommand(): Command {
  const command = new Command('gateways').description('try an SMS gateway of the configuration')
  command
    .command('try')
    .description('send a marked test message and print every step')
    .argument('<name>', 'the gateway, as [[sms.gateways]] names it')
    .argument('<number>', 'the number, such as +33612345678')
    .option(...configOption)
    .action(tryGateway)
  return command
}

export function mailCommand(): Command {
  const command = new Command('mail').description('try the mail server of the configuration')
  command
    .command('try')
    .description('send a marked test message and print every step')
    .argument('<address>', 'an e-mail address')
    .option(...configOption)
    .action(tryMail)
  return command
}

async function tryGateway(name: string, number: string, options: TryOptions): Promise<void> {
  const { config } = requireConfig({ ...options, mustDeliver: false })
  const gateway = config.sms.gateways.find((each) => each.name === name)
  if (!gateway) throw new CommandFailure(2, `there is no gateway ${name}: ${namesOf(config.sms.gateways)}`)
  const to = parseIdentifier(number, config.accounts.defaultCountry)
  if (to?.kind !== 'phone') throw new CommandFailure(2, `${number} is no phone number`)
  if (!covers(gateway, to.key)) throw new CommandFailure(1, `${name} does not cover ${to.key}`)
  const steps = createSteps(options)
  const message = testMessage(config, 'sms', to.key)
  const { url, body } = requestOf(gateway, message, null)
  const unreached = await reach(steps.note, url)
  if (unreached !== null) throw new CommandFailure(1, unreached)
  steps.note('body', shapeOf(gateway, body))
  const { outcome, mayBeTaken, providerId } = await createGateway(gateway, systemClock, steps.note)(message)
  if (providerId) steps.note('message id', providerId)
  steps.finish(mayBeTaken ? 'unknown' : outcome)
}

async function tryMail(address: string, options: TryOptions): Promise<void> {
  const { config } = requireConfig({ ...options, mustDeliver: false })
  const { smtp } = config
  if (smtp === null) throw new CommandFailure(2, 'smtp: is not set, so there is no mail server to try')
  const to = parseIdentifier(address, config.accounts.defaultCountry)
  if (to?.kind !== 'email') throw new CommandFailure(2, `${address} is no e-mail address`)
  const steps = createSteps(options)
  const sender = createEmailSender(config, systemClock, steps.note)!
  const { outcome } = await sender.send(testMessage(config, 'email', to.destination))
  await sender.close()
  steps.finish(outcome)
}

type TryOptions = CommandOptions & CommonOptions

const verdicts = {
  sent: 'sent',
  refused: 'refused for good',
  failed: 'not sent; the service would try it again',
  unknown: 'unknown: it may have been taken; the service would make one more attempt',
}

export const printStep = ({ name, text }: Step): void => print(`${`${name}:`.padEnd(12)} ${text}\n`)

/** A line for each step as it happens; for programs all of them at the end. */
function createSteps({ json }: TryOptions) {
  const steps: Step[] = []
  function note(name: string, text: string): void {
    steps.push({ name, text: text.trim() })
    if (!json) printStep({ name, text: text.trim() })
  }
  return {
    note,
    /** Throws where the message was not sent. */
    finish(outcome: keyof typeof verdicts): void {
      if (json) printJson({ outcome, steps })
      else note('verdict', verdicts[outcome])
      if (outcome !== 'sent') throw new CommandFailure(1, '')
    },
  }
}

/** The names of the fields, and no value: any of them may be a key. */
function shapeOf({ body: fields, format }: GatewayConfig, body: string | undefined): string {
  return `${format} of ${Object.keys(fields).join(', ') || 'nothing'}${body ? `, ${Buffer.byteLength(body)} bytes` : ''}`
}

const namesOf = (gateways: GatewayConfig[]) =>
  gateways.length === 0 ? 'none is configured' : `there are ${gateways.map(({ name }) => name).join(', ')}`

export function testMessage(config: Config, channel: 'email' | 'sms', to: string): RenderedMessage {
  const text = `${serviceName(config)}: this is a test. Nobody asked for a code.`
  const id = Math.floor(Date.now() / 1000)
  const isMail = channel === 'email'
  return {
    ...{
      id,
      channel,
      to,
      purpose: 'account_exists',
      language: config.server.language,
      code: null,
      minutes: 0,
    },
    subject: isMail ? `Test of ${serviceName(config)}` : '',
    text,
    html: null,
  }
}

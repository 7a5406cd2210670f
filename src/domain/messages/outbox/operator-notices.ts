/** E-mails to the operator (`admin.notify`), beside the line in the log that says the same. */
import type { Config } from '../../../platform/config/types.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { OperatorPurpose } from './message.ts'
import type { Outbox } from './service.ts'

/** `about`: what it concerns, such as a gateway; never a person. Nobody waits for it, and it never throws. */
export type TellOperator = (purpose: OperatorPurpose, about?: string) => void

interface Options {
  limits: Pick<LimitService, 'admits' | 'counters'>
  outbox: Pick<Outbox, 'sendNotices'>
  config: Pick<Config, 'admin' | 'server'>
  logger: { warn(fields: object, message: string): void }
}

/** What goes on for days is said once a day. */
const lasting = new Set<OperatorPurpose>(['operator_webhook_away', 'operator_webhook_given_up'])

export function createOperatorNotices({ limits, outbox, config, logger }: Options): TellOperator {
  const { notify } = config.admin
  return (purpose, about) => {
    if (notify === '') return
    const send = async () => {
      const { lastingNotices, operatorNotices } = limits.counters
      const counter = lasting.has(purpose) ? lastingNotices(purpose, about ?? '') : operatorNotices(purpose)
      if (!(await limits.admits([counter]))) return
      const { language } = config.server
      const values = about === undefined ? {} : { about }
      await outbox.sendNotices([{ channel: 'email', destination: notify, purpose, language, values }])
    }
    void send().catch(() => logger.warn({ purpose }, 'the operator could not be notified'))
  }
}

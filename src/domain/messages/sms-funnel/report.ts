/** The report about SMS, by gateway and country: a row for each, with a number for each stage. */
import { type Stage, type StageCount, stages } from './store.ts'

export type SmsReportRow = { gateway: string; country: string } & Record<Stage, number>

/** Codes that were asked for have no gateway yet: they are in a row of their own. */
export function smsReport(counts: StageCount[]): SmsReportRow[] {
  const groups = Map.groupBy(counts, ({ gateway, country }) => `${gateway} ${country}`)
  return [...groups.values()].map((group) => {
    const { gateway, country } = group[0] as StageCount
    const of = (stage: Stage) => group.find((each) => each.stage === stage)?.count ?? 0
    return {
      gateway,
      country,
      ...(Object.fromEntries(stages.map((stage) => [stage, of(stage)])) as Record<Stage, number>),
    }
  })
}

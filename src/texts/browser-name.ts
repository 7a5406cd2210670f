/**
 * A browser as our pages name it, `Firefox on Linux`, in the words of a language; null for any other name. A program may call its
 * device as it likes. Messages and pages follow this one rule; the page of administration runs it in the browser.
 */
export function browserName(name: string, browserOn: string): string | null {
  const [, browser, system] = /^([A-Z][\w ]{3,20}) on ([A-Za-z]{4,10})$/.exec(name) ?? []
  if (browser === undefined || system === undefined) return null
  return browserOn.replace('{browser}', browser).replace('{system}', system)
}

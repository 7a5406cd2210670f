/** The applications that people are handed over to. */
import { element, number, say } from './elements.js'
import { pagedTable } from './pages.js'

export async function applicationsScreen() {
  const columns = [
    [say('application_name'), ({ id, name }) => `${name} (${id})`],
    [say('application_own'), ({ own }) => say(own ? 'yes' : 'no')],
    [say('application_secret'), ({ public: isPublic }) => say(isPublic ? 'no' : 'yes')],
    [
      say('who_may_enter'),
      ({ own, groups }) => (own || groups.includes('*') ? say('everybody') : groups.join(', ')),
    ],
    [say('sessions'), ({ sessions }) => number(sessions)],
  ]
  return [
    element('h1', {}, say('applications')),
    element('p', { class: 'soft' }, say('applications_lead')),
    element(
      'div',
      { class: 'card' },
      await pagedTable('applications', {}, columns, { empty: say('no_applications') }),
    ),
  ]
}

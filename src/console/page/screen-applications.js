/** The applications that people are handed over to. */
import { avatar, element, say, twoLines, wayUp } from './elements.js'
import { pagedTable } from './pages.js'
import { number } from './times.js'

export async function applicationsScreen() {
  const columns = [
    [
      say('application_name'),
      ({ id, name }) => element('span', { class: 'pair' }, [avatar(name), twoLines(name, id)]),
      'first',
    ],
    [say('application_own'), ({ own }) => say(own ? 'yes' : 'no'), 'named'],
    [say('application_secret'), ({ public: isPublic }) => say(isPublic ? 'no' : 'yes'), 'named'],
    [
      say('who_may_enter'),
      ({ own, groups }) => (own || groups.includes('*') ? say('everybody') : groups.join(', ')),
      'named',
    ],
    [say('sessions'), ({ sessions }) => number(sessions), 'number'],
  ]
  return [
    wayUp('#/', say('overview')),
    element('h1', {}, say('applications')),
    element('p', { class: 'lead' }, say('applications_lead')),
    element(
      'div',
      { class: 'card list' },
      await pagedTable('applications', {}, columns, { empty: say('no_applications') }),
    ),
  ]
}

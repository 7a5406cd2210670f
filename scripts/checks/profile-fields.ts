/** The pages that list the fields of the profile, which are written by hand, lack none. */
import { profileFields } from '../../src/platform/postgres/schema.ts'
import { type Check, root } from './source-files.ts'

const pages = ['docs/people.md', 'docs/applications.md', 'docs/clients-reference.md']

export const checkProfileFields: Check = async () => {
  const read = pages.map(async (page) => {
    const text = await Bun.file(`${root}/${page}`).text()
    // Clients read and change what people say of themselves; a picture is not among it.
    const fields = Object.keys(profileFields).filter(
      (field) => field !== 'picture' || !page.includes('clients'),
    )
    return fields
      .filter((field) => !text.includes(`\`${field}\``))
      .map((field) => `${page} lists the fields of the profile without \`${field}\``)
  })
  return (await Promise.all(read)).flat()
}

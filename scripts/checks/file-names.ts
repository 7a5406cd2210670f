/** Files are named by their content, in kebab-case. */
import { basename } from 'node:path'
import { type Check, readFiles } from './source-files.ts'

const nameless = /^(utils?|commons?|helpers?|managers?|misc)\.|-(utils?|helpers?|managers?)\./

export const checkFileNames: Check = async () => {
  const paths = (await readFiles('{src,scripts,test}/**/*.ts')).map(({ path }) => path)
  return [
    ...paths
      .filter((path) => !/^[a-z0-9]+([-.][a-z0-9]+)*\.ts$/.test(basename(path)))
      .map((path) => `${path}: not kebab-case`),
    ...paths
      .filter((path) => nameless.test(basename(path)))
      .map((path) => `${path}: the name does not say what it holds`),
  ]
}

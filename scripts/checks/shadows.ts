/**
 * No variable hides a function that its file calls: a local `inTurn` once took the place of the function that was meant. The
 * linter's own rule also refuses parameters and values, which read well twice.
 */
import ts from 'typescript'
import { type Check, readFiles } from './source-files.ts'

/** The names that a statement of a file gives to functions and imports. */
function namesOf(statement: ts.Statement): string[] {
  if (ts.isFunctionDeclaration(statement) && statement.name) return [statement.name.text]
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name, initializer }) =>
      ts.isIdentifier(name) && initializer && ts.isFunctionLike(initializer) ? [name.text] : [],
    )
  if (!ts.isImportDeclaration(statement)) return []
  const { name, namedBindings } = statement.importClause ?? {}
  const named = namedBindings && ts.isNamedImports(namedBindings) ? namedBindings.elements : []
  return [...(name ? [name] : []), ...named.map((each) => each.name)].map(({ text }) => text)
}

/** The names of the functions, of a file's own or imported, that it calls. */
function calledFunctions(file: ts.SourceFile): Set<string> {
  const called = new Set<string>()
  const note = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) called.add(node.expression.text)
    ts.forEachChild(node, note)
  }
  note(file)
  return called.intersection(new Set(file.statements.flatMap(namesOf)))
}

/** A variable, or a part of one that is taken apart; not a parameter. */
function isOfVariable(node: ts.Node): node is ts.VariableDeclaration | ts.BindingElement {
  if (ts.isVariableDeclaration(node)) return true
  return ts.isBindingElement(node) && isOfVariable(node.parent.parent)
}

/** Returns the hidden names of a file, with their lines. */
export function findShadows(path: string, text: string): { name: string; line: number }[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const outer = calledFunctions(file)
  const found: { name: string; line: number }[] = []
  const look = (node: ts.Node, isInside: boolean): void => {
    const declares = isOfVariable(node) || ts.isFunctionDeclaration(node)
    if (isInside && declares && node.name && ts.isIdentifier(node.name) && outer.has(node.name.text))
      found.push({
        name: node.name.text,
        line: file.getLineAndCharacterOfPosition(node.name.getStart()).line + 1,
      })
    const opens = ts.isFunctionLike(node) || ts.isBlock(node)
    ts.forEachChild(node, (child) => look(child, isInside || opens))
  }
  look(file, false)
  return found
}

export const checkShadows: Check = async () =>
  (await readFiles('src/**/*.ts')).flatMap(({ path, text }) =>
    findShadows(path, text).map(
      ({ name, line }) => `${path}:${line}: ${name} hides the function of this name`,
    ),
  )

/** The other end of children.ts: a process that answers questions, one JSON line each way, until its input ends. */

/** Prints `"ready"`, then for each line of standard input the answer to it. */
export async function answerQuestions<Question, Answer>(
  answer: (question: Question) => Promise<Answer>,
): Promise<void> {
  console.log('"ready"')
  for await (const line of console) console.log(JSON.stringify(await answer(JSON.parse(line) as Question)))
  process.exit(0)
}

/** The frames between the caller and this file. */
const INTERMEDIATE =
  /(?:calledBy|RunnerTransactions\.start|Runner\.startTransaction|(?:DataSource|EntityManager)\.transaction) /;

/** Names a transaction after the function that starts it: the nearest one outside TypeORM. */
export function calledBy(): () => string {
  const stackHolder = new Error('begun');
  return () => {
    const frame = stackHolder.stack
      ?.split('\n')
      .slice(1)
      .find((line) => !INTERMEDIATE.test(line));
    return frame === undefined ? 'A transaction' : `The transaction ${frame.trim()}`;
  };
}

import cosift = require('cosift');

export async function search(): Promise<number> {
  const opened: cosift.Cosift = await cosift.open('facts');
  const facts = await opened.createDatabase('facts');
  return (await facts.search({ search: { text: 'a tall building' } })).results.length;
}

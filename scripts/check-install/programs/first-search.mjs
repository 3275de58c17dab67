import { open } from 'cosift';

const cosift = await open('first');
const facts = await cosift.createDatabase('facts');
await facts.upsert([
  { id: 1, data: { name: 'Eiffel Tower' } },
  { id: 2, data: { name: 'Lake Baikal' } },
]);
console.log((await facts.search('a tall building')).results[0].data.name);

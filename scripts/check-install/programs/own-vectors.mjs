import { open } from 'cosift';

const cosift = await open('own');
const own = await cosift.createDatabase('own', { dimensions: 2 });
await own.upsert([
  { id: 1, data: { name: 'east' }, vector: [1, 0] },
  { id: 2, data: { name: 'north' }, vector: [0, 1] },
]);
console.log((await own.search({ vector: [0.1, 0.9] })).results[0].data.name);
await cosift.createDatabase('texts').catch(({ code, message }) => console.log(`${code}: ${message}`));
await cosift.close();

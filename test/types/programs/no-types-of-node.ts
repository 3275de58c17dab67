// Compiled without the types of Node: no package that the library needs may bring them in.
import { equals, open } from 'cosift';

const cosift = await open('data');
const facts = cosift.database<{ name: string }>('facts');
for await (const { data } of facts.searchAll('a tower', { filter: equals('name', 'Eiffel') }))
  data.name.trim();

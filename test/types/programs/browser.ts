// Compiled without the types of Node.
import { Client, CosiftError, equals } from 'cosift/client';

const client = new Client({ url: 'http://127.0.0.1:8080', key: 'k' });
const facts = client.database<{ name: string }>('facts');
try {
  for await (const { data } of facts.searchAll('a tower', { filter: equals('name', 'Eiffel') }))
    data.name.trim();
} catch (error) {
  if (error instanceof CosiftError) console.log(error.code, error.problems[0]?.pointer);
}

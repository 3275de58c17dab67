import { open } from 'cosift';
import { Client } from 'cosift/client';

{
  await using cosift = await open(process.argv[2] ?? '');
  await using client = new Client({ url: 'http://127.0.0.1:1', key: 'k' });
  console.log((await cosift.databases()).length, typeof client.close);
}
// The block has closed the directory, so it can be opened again.
await (await open(process.argv[2] ?? '')).close();
console.log('closed');

import { Client } from 'cosift/client';

const [url, key] = process.argv.slice(2);
const facts = new Client({ url, key }).database('facts');
console.log((await facts.search('deep water')).results[0].data.name);

const { Client } = require('cosift/client');

const [url, key] = process.argv.slice(2);
const facts = new Client({ url, key }).database('facts');
facts.search('deep water').then(({ results }) => console.log(results[0].data.name));

const { open } = require('cosift');
(async () => {
  const cosift = await open('required');
  const facts = await cosift.createDatabase('facts');
  await facts.upsert([{ id: 1, data: { name: 'Lake Baikal' } }]);
  console.log((await facts.search('deep water')).results[0].data.name);
  await cosift.close();
})();

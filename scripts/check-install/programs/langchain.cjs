const { CosiftVectorStore } = require('@cosift/langchain');
const { open } = require('cosift');

async function main() {
  const cosift = await open('./notes-of-require');
  const database = await cosift.createDatabase('notes', { embed: { columns: ['text'] } });
  const store = await CosiftVectorStore.fromTexts(['Eiffel Tower', 'Lake Baikal'], [{}, {}], undefined, {
    database,
  });
  const [found] = await store.similaritySearch('deep water', 1);
  console.log(found.pageContent);
  await cosift.close();
}

main();

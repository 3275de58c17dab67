import { CosiftVectorStore } from '@cosift/langchain';
import { open } from 'cosift';

const cosift = await open('./notes-of-import');
const database = await cosift.createDatabase('notes', { embed: { columns: ['text'] } });
const store = await CosiftVectorStore.fromTexts(['Eiffel Tower', 'Lake Baikal'], [{}, {}], undefined, {
  database,
});
const [found] = await store.similaritySearch('deep water', 1);
console.log(found.pageContent);
await cosift.close();

import { open } from 'cosift';

const cosift = await open('./multilingual');
const facts = await cosift.createDatabase('facts', { model: 'multilingual-e5-small' });
await facts.upsert([
  { id: 1, data: { text: 'Der Eiffelturm ist 330 Meter hoch und steht in Paris.' } },
  { id: 2, data: { text: 'Der Baikalsee ist der tiefste See der Erde.' } },
  { id: 3, data: { text: '长城全长两万多公里。' } },
  { id: 4, data: { text: '大熊猫主要以竹子为食。' } },
]);
for (const text of ['Wo ist das Wasser am tiefsten?', 'ein hoher Turm', '熊猫吃什么?', '中国古代的城墙']) {
  const { results } = await facts.search(text, { limit: 1 });
  console.log(results[0]?.id);
}
await cosift.close();

import cosift = require('cosift');
import ai = require('cosift/ai');
import within = require('cosift/client');

export async function search(): Promise<number> {
  const opened: cosift.Cosift = await cosift.open('facts');
  const facts = await opened.createDatabase('facts');
  return (await facts.search('a tall building')).results.length;
}
export const client: within.Client = new within.Client({ url: 'http://127.0.0.1:8080', key: 'key' });
export const tool: ai.AiSearchTool = ai.searchTool(client.database('facts'), { limit: 5 });

import { type Cosift, open } from 'cosift';
import { type AiSearchTool, embeddingModel, searchTool } from 'cosift/ai';
import { Client } from 'cosift/client';

const cosift: Cosift = await open('facts');
const facts = await cosift.createDatabase('facts');
const { results } = await facts.search('a tall building');
const score: number | undefined = results[0]?.relevance_score;
const remote = new Client({ url: 'http://127.0.0.1:8080', key: 'key' }).database('facts');
export const found: [number | undefined, number] = [score, (await remote.query({})).results.length];
export const tool: AiSearchTool = searchTool(facts, { limit: 5 });
export const model: string = embeddingModel(cosift).modelId;

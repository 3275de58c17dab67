// A client in TypeScript, typed by the OpenAPI document alone. It has to compile without a cast.
import type { components, operations } from './api.js';

type Body<Operation extends { requestBody?: { content: { 'application/json': unknown } } | undefined }> =
  NonNullable<Operation['requestBody']>['content']['application/json'];
type Page = operations['searchB']['responses']['200']['content']['application/json'];

async function post<Response>(path: string, body: object): Promise<Response> {
  const response = await fetch(`http://127.0.0.1:8080/v1${path}`, {
    method: 'POST',
    headers: { 'x-api-key': 'k', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.json();
}

const group: components['schemas']['FilterGroupB'] = {
  rules: [
    { column: 'height_m', operator: 'greater_than', value: 300 },
    { condition: 'OR', rules: [{ column: 'note', operator: 'is_empty' }] },
  ],
};
const search: Body<operations['searchB']> = {
  search: { text: 'a tall tower' },
  filter: group,
  facets: [{ column: 'country' }, { column: 'height_m', type: 'histogram', interval: 100 }],
};
const upsert: Body<operations['upsertRecords']> = {
  records: [{ id: 1, data: { name: 'Eiffel Tower', height_m: 330, open: true, note: null } }],
};

export async function main(): Promise<void> {
  const written = await post<components['schemas']['BatchResult']>('/databases/facts/records', upsert);
  console.log(written.created.toFixed(), written.results[0]?.uuid.trim());
  const page = await post<Page>('/databases/facts/search', search);
  for (const { id, relevance_score, data, timestamps } of page.results) {
    console.log(id.toFixed(), relevance_score?.toFixed(), data.name, timestamps.last_seen_time.trim());
  }
  if (page.pagination.has_more) search.pagination = { cursor: page.pagination.next_cursor };
}

// @ts-expect-error: a rule whose value does not fit its operator
group.rules = [{ column: 'height_m', operator: 'greater_than', value: '300' }];
// @ts-expect-error: no such operator
group.rules = [{ column: 'height_m', operator: 'like', value: '300' }];

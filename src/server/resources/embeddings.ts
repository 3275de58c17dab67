import { setImmediate } from 'node:timers/promises';
import type { ModelVectors } from '../../databases/index.js';
import { checkEmbeddingsRequest, type EmbeddingsRequest, MAX_EMBEDDED_TEXTS } from '../../schema/index.js';
import { callerOf, scopeOf } from '../admission/access.js';
import { withAbortAndTimeout } from '../admission/deadlines.js';
import { sendJson } from '../http/send-json.js';
import { MODEL_ERRORS } from '../operation.js';
import type { Resource } from './resource.js';

export const EMBEDDINGS: Resource = {
  embed: {
    method: 'POST',
    path: '/v1/embeddings',
    tag: 'Search',
    summary: 'Embed texts',
    description:
      'Vectors of texts, for a search by vector or for another program, in the form that clients of OpenAI send and read. ' +
      'Texts wait in the queue of the texts of searches or of records, and each counts as a request. ' +
      'A key for some databases may use the models of these databases only.',
    actions: ['search'],
    body: 'EmbeddingsRequest',
    success: [{ status: 200, description: 'The vectors in the order of the texts', schema: 'Embeddings' }],
    errors: MODEL_ERRORS.filter((code) => code !== 'model_mismatch'),
    kind: 'searches',
    counted: { member: 'input', max: MAX_EMBEDDED_TEXTS },
    handler: ({ databases, limits, timeouts, inFlight }) => {
      return async (request, reply) => {
        const checked = checkEmbeddingsRequest(request.body, limits);
        inFlight.checkUnsent(request, limits.page_bytes);
        const { databases: visible } = callerOf(request);
        const vectors = await withAbortAndTimeout(request, reply, timeouts.responseMs, ({ signal }) =>
          databases.texts.embed(checked, { scope: scopeOf(request), databases: visible, signal }),
        );
        return sendJson(reply, await bodyOf(vectors, checked.encoding_format));
      };
    },
  },
};

/** The response. Each vector is written in a turn of its own, because numbers take long. */
async function bodyOf(
  { vectors, dimensions, model, tokens }: ModelVectors,
  format: EmbeddingsRequest['encoding_format'],
): Promise<Uint8Array> {
  const data: string[] = [];
  for (let start = 0; start < vectors.length; start += dimensions) {
    const vector = vectors.subarray(start, start + dimensions);
    const embedding = format === 'base64' ? base64Of(vector) : Array.from(vector);
    data.push(JSON.stringify({ object: 'embedding', index: data.length, embedding }));
    if (format !== 'base64') await setImmediate();
  }
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  const rest = JSON.stringify({ model, usage }).slice(1);
  return Buffer.from(`{"object":"list","data":[${data.join(',')}],${rest}`);
}

function base64Of(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
}

import { isLoopback } from './address-policy.js';

/** An OpenAI-compatible service that embeds texts, and one of its models. */
export interface Endpoint {
  /** Address of the operation that embeds texts, such as `https://api.example.com/v1/embeddings`. */
  url: string;
  /** Name of the model at the service. */
  model: string;
  /** Number of values of a vector, which the service is asked for; undefined: as many as its vectors have. */
  dimensions: number | undefined;
  /** The environment variable that has the API key. */
  keyEnv: string | undefined;
  keyFile: string | undefined;
  /** The prefix of each text of a kind. */
  prompts: { query: string; passage: string };
}

const PARAMETERS = [
  'model',
  'dimensions',
  'key_env',
  'key_file',
  'query_prompt',
  'passage_prompt',
  'allow_http',
];

const MAX_DIMENSIONS = 4096;

/** Whether the source of a model is an endpoint and not a directory. */
export function isEndpoint(source: string): boolean {
  return /^https?:\/\//i.test(source);
}

/**
 * Returns the endpoint of a text such as `https://api.example.com/v1#model=small&key_env=API_KEY`. The parameters are in
 * the fragment, which is never sent. Throws an Error whose message completes "…: ".
 */
export function parseEndpoint(text: string): Endpoint {
  if (!URL.canParse(text)) throw new Error('is not a URL');
  const url = new URL(text);
  // Neither may be in a message, because both may be secrets.
  if (url.username !== '' || url.password !== '' || url.search !== '') {
    throw new Error('must have neither a user nor a query; name the API key by key_env or key_file');
  }
  const parameters = new URLSearchParams(url.hash.slice(1));
  url.hash = '';
  const names = [...parameters.keys()];
  for (const name of names) {
    if (!PARAMETERS.includes(name))
      throw new Error(`has no parameter ${name}, only ${PARAMETERS.join(', ')}`);
    if (parameters.getAll(name).length > 1) throw new Error(`has ${name} twice`);
  }
  const parameter = (name: string) => parameters.get(name) || undefined;
  const model = parameter('model');
  if (model === undefined) {
    throw new Error('must name the model of the service after the address, as in https://HOST/v1#model=NAME');
  }
  const dimensions = parameter('dimensions');
  if (dimensions !== undefined && !isDimensions(dimensions)) {
    throw new Error(`dimensions must be a whole number from 1 to ${MAX_DIMENSIONS}, not ${dimensions}`);
  }
  const [keyEnv, keyFile] = [parameter('key_env'), parameter('key_file')];
  if (keyEnv !== undefined && keyFile !== undefined)
    throw new Error('must have key_env or key_file, not both');
  const allowHttp = parameter('allow_http') ?? 'false';
  if (allowHttp !== 'true' && allowHttp !== 'false') throw new Error('allow_http must be true or false');
  if (url.protocol === 'http:' && allowHttp !== 'true' && !isLoopback(url.hostname)) {
    throw new Error(
      `would send texts and the API key unencrypted to ${url.hostname}: use https://, or allow it with allow_http=true`,
    );
  }
  return {
    url: addressOf(url),
    model,
    dimensions: dimensions === undefined ? undefined : Number(dimensions),
    keyEnv,
    keyFile,
    prompts: { query: parameter('query_prompt') ?? '', passage: parameter('passage_prompt') ?? '' },
  };
}

function isDimensions(text: string): boolean {
  return /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_DIMENSIONS;
}

/** The address of the operation for a base such as `https://HOST`, `https://HOST/v1` or the address itself. */
function addressOf({ origin, pathname }: URL): string {
  const path = pathname.replace(/\/+$/, '').replace(/\/embeddings$/, '');
  return `${origin}${path === '' ? '/v1' : path}/embeddings`;
}

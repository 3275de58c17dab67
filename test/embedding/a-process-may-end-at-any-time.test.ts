import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SCRIPT = fileURLToPath(new URL('exit-in-mid-inference.mjs', import.meta.url));

// onnxruntime's addon used to abort here: "terminate called after throwing an instance of 'Napi::Error'".
test('process.exit in the middle of an inference leaves with its code and without a word', () => {
  const { status, signal, stderr } = spawnSync(process.execPath, ['--import', 'tsx', SCRIPT], {
    encoding: 'utf8',
  });
  expect({ status, signal, stderr }).toEqual({ status: 7, signal: null, stderr: '' });
});

import { cpSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MODEL = fileURLToPath(new URL('../../models/all-MiniLM-L6-v2/', import.meta.url));

/** Makes another model in `directory`: the files of the built-in model with one of them replaced. */
export function modelVariant(directory: string, file: string, content: unknown): string {
  cpSync(MODEL, directory, { recursive: true, filter: (source) => !source.endsWith('.onnx') });
  symlinkSync(join(MODEL, 'onnx/model_quantized.onnx'), join(directory, 'onnx/model_quantized.onnx'));
  rmSync(join(directory, file));
  writeFileSync(join(directory, file), JSON.stringify(content));
  return directory;
}

/** Makes a model whose vectors are those of the first token instead of the mean. */
export function firstTokenModel(directory: string): string {
  const pooling = { word_embedding_dimension: 384, pooling_mode_cls_token: true };
  return modelVariant(directory, '1_Pooling/config.json', pooling);
}

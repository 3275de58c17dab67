import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Block } from './blocks.js';
import { install, root } from './installation.js';
import { type Page, sourceOf } from './steps.js';

/** Checks all programs in TypeScript with `strict`. Returns each error as `page:line: message`. */
export function typeErrorsOf(pages: readonly Page[], directory: string, commands: string): string[] {
  mkdirSync(directory, { recursive: true });
  install(directory, commands);
  const programs = pages.flatMap(programsOf);
  if (programs.length === 0) return [];
  const pageOfFile = new Map<string, string>();
  for (const [at, blocks] of programs.entries()) {
    const file = `program-${at}.mts`;
    pageOfFile.set(file, blocks[0]?.page ?? '');
    writeFileSync(
      join(directory, file),
      sourceOf(
        blocks.map((block) => ({ block })),
        () => 'export {};',
      ),
    );
  }
  const config = {
    compilerOptions: {
      ...{ target: 'ES2022', module: 'NodeNext', strict: true, noEmit: true, skipDefaultLibCheck: true },
      ...{
        lib: ['ES2023', 'ESNext.Disposable'],
        types: ['node'],
        typeRoots: [join(root, 'node_modules', '@types')],
      },
    },
    files: [...pageOfFile.keys()],
  };
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  const { stdout, stderr, status } = spawnSync(tsc, ['-p', directory, '--pretty', 'false'], {
    cwd: directory,
    encoding: 'utf8',
  });
  if (status === 0) return [];
  const errors = [...stdout.matchAll(/^(\S+?)\((\d+),\d+\): (error .*)$/gm)].map(
    ([, file = '', line, message]) => `${pageOfFile.get(file) ?? file}:${line}: ${message}`,
  );
  return errors.length > 0 ? errors : [`tsc ended with ${status}: ${stdout}${stderr}`];
}

/** Returns the programs in TypeScript of a page, each as its blocks. */
function programsOf({ steps }: Page): Block[][] {
  return steps.flatMap((step) => {
    const blocks = step.kind === 'program' ? step.parts.map(({ block }) => block) : [step.block];
    const checked = step.kind === 'program' || step.kind === 'file';
    return checked && blocks[0]?.language === 'ts' ? [blocks] : [];
  });
}

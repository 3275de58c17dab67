import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that measure the memory or the event loop of their process: nothing else has run in it. */
const ALONE = [
  'test/databases/small-chunks-take-no-more-memory-than-their-bytes.test.ts',
  'test/cli/hostile-files-are-imported-right-or-refused.test.ts',
  'test/cli/parquet-of-other-writers-is-read-exactly-or-refused-by-name.test.ts',
  'test/library/memory-of-facets-is-given-back.test.ts',
  'test/server/a-body-in-tiny-chunks-is-refused.test.ts',
  'test/server/descriptions-are-not-parsed.test.ts',
  'test/server/many-databases-do-not-block-the-event-loop.test.ts',
  'test/server/no-request-blocks-the-event-loop.test.ts',
  'test/server/writes-that-wait-for-a-reembedding-leave-room.test.ts',
];

/** A pattern of paths of test files, without their ends. */
const filesOf = (...names: string[]) => new RegExp(`/(${names.join('|')})\\.test\\.ts$`);

/** Files that launch many processes. A launch takes longer the more memory its process has, which grows from file to file. */
const LAUNCHING = filesOf(
  'cli/[^/]+',
  'docs/every-sample-of-the-documentation-runs',
  'mcp/an-agent-searches-over-stdio',
  'sync/kills-lose-nothing',
);

/** Other files that take long. Those of the page, and of a server that hangs, wait most of their time. */
const LONG = filesOf(
  'conformance/(local|pglite|postgres)',
  'page/[^/]+',
  'server/(a-service-answers-while-its-postgresql-hangs|a-sync-is-run-by-another-process|hostile-connections)',
);

/** Begins with the files that launch processes, and with those that take long, so that none of them runs alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // The files of a project stay together, because they share processes.
    const rank = ({ project, moduleId }: TestSpecification) =>
      project.config.isolate ? 0 : LAUNCHING.test(moduleId) ? 1 : LONG.test(moduleId) ? 2 : 3;
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    globalSetup: ['test/global-setup.mjs'],
    setupFiles: ['test/setup.ts'],
    // What the build makes is loaded as programs load it.
    server: { deps: { external: [/\/dist\//] } },
    pool: 'forks',
    // One more than the processors of a small machine: a test waits a fifth of its time for others.
    maxWorkers: 3,
    // Only what hangs reaches these limits, on a busy machine, too.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    projects: [
      // A process loads the modules once for all its files.
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: ALONE,
          isolate: false,
          setupFiles: ['test/built-in-model.ts'],
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE } },
    ],
  },
});

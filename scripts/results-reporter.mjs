// A reporter of vitest: writes the failed and the skipped tests, each as `name: reason`, as JSON to the file that
// TEST_RESULTS_FILE names. Ends the run when a file hangs.
import { writeFileSync } from 'node:fs';

/** Milliseconds without an event of a file after which it counts as hanging. Every test and hook has a shorter limit. */
const HANGS_MS = Number(process.env.TEST_HANGS_MS ?? 10 * 60_000);

export default class ResultsReporter {
  /** The modules that run, with the timer of each. */
  #running = new Map();
  #ended = new Set();

  onTestModuleStart(module) {
    this.#watch(module, 'its start');
  }

  onTestCaseReady(test) {
    this.#watch(test.module, `the start of "${test.fullName}"`);
  }

  onTestCaseResult(test) {
    this.#watch(test.module, `the end of "${test.fullName}"`);
  }

  onTestModuleEnd(module) {
    clearTimeout(this.#running.get(module));
    this.#running.delete(module);
    this.#ended.add(module);
  }

  onTestRunEnd(modules, unhandledErrors) {
    const unhandled = unhandledErrors.map((error) => `outside of a test: ${firstLine(error)}`);
    this.#write(modules, unhandled);
  }

  #watch(module, event) {
    clearTimeout(this.#running.get(module));
    // Vitest reports the batches of events concurrently: the end of a file may come before that of its last test.
    if (this.#ended.has(module)) return;
    this.#running.set(
      module,
      setTimeout(() => this.#endRun(module, event), HANGS_MS),
    );
  }

  #endRun(hanging, event) {
    const running = [...this.#running.keys()];
    const unfinished = running.map((module) => {
      const reason =
        module === hanging ? `hangs after ${event}` : `was running while ${hanging.relativeModuleId} hung`;
      return `${module.relativeModuleId}: ${reason}`;
    });
    this.#write([...this.#ended, ...running], unfinished);
    process.exit(1);
  }

  #write(modules, others) {
    const skipped = modules.flatMap((module) =>
      [...module.children.allTests('skipped')].map(
        (test) => `${test.fullName}: ${test.result().note ?? test.options.mode}`,
      ),
    );
    const failed = modules.flatMap((module) => [
      ...[...module.children.allTests('failed')].map((test) =>
        line(module, test.fullName, test.result().errors),
      ),
      // A file that cannot be loaded, or a hook that throws, has no failed test.
      ...[module, ...module.children.allSuites()].flatMap((part) =>
        part.errors().map((error) => line(module, part.fullName ?? 'the file', [error])),
      ),
    ]);
    writeFileSync(process.env.TEST_RESULTS_FILE, JSON.stringify({ failed: [...failed, ...others], skipped }));
  }
}

function line(module, name, errors) {
  return `${module.relativeModuleId} > ${name}: ${firstLine(errors[0])}`;
}

function firstLine(error) {
  return String(error?.message ?? error).split('\n', 1)[0];
}

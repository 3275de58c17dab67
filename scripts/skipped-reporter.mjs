// A reporter of vitest: writes a line for each skipped test to the file that SKIPPED_REPORT_FILE names.
import { writeFileSync } from 'node:fs';

export default class SkippedReporter {
  onTestRunEnd(modules) {
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    const lines = skipped.map((test) => `${test.fullName}: ${test.result().note ?? test.options.mode}\n`);
    writeFileSync(process.env.SKIPPED_REPORT_FILE, lines.join(''));
  }
}

// Runs checks and says how each went.

let failed = 0;
let passed = 0;
let skipped = 0;

/** Runs a check, and prints the first line of what it returns. After a failure, the next checks still run. */
export async function check(title, body) {
  const started = performance.now();
  const seconds = () => ((performance.now() - started) / 1000).toFixed(1);
  try {
    const note = await body();
    passed += 1;
    const text = note ? `: ${note.trim().split('\n', 1)[0]}` : '';
    console.log(`ok      ${title}${text} (${seconds()} s)`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${title} (${seconds()} s)\n${indented(error.stack ?? error)}`);
  }
}

/** Says why a check is left out. */
export function skip(title, why) {
  skipped += 1;
  console.log(`skipped ${title}: ${why}`);
}

/** Prints the result. The process ends with code 1 if a check failed. */
export function finish() {
  console.log(`install check: ${passed} checks passed, ${failed} failed, ${skipped} skipped`);
  if (failed > 0) process.exitCode = 1;
}

function indented(text) {
  return String(text)
    .split('\n')
    .map((line) => `        ${line}`)
    .join('\n');
}

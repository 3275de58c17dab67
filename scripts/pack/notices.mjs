// The licences of the Rust crates in the engine.
import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { licencesIn } from '../bundle/notices.mjs';
import { fail, root } from '../setup.mjs';

/** The names, versions and licence texts of all crates that are linked into the engine of a target. */
export function noticesOf(triple) {
  const texts = new Map();
  for (const crate of linkedCrates(triple)) {
    const text = licencesIn(dirname(crate.manifest_path));
    // Some crates name their licence and contain no text.
    const licence = text || `${crate.license ?? fail(`${crate.name} has no licence`)} (${crate.repository})`;
    texts.set(licence, [...(texts.get(licence) ?? []), `${crate.name} ${crate.version}`]);
  }
  const parts = [...texts].map(
    ([licence, crates]) => `${'='.repeat(80)}\n${crates.join('\n')}\n\n${licence}\n`,
  );
  return `The engine of cosift contains these libraries.\n\n${parts.join('\n')}`;
}

/** The crates from other projects, without those that only build or test the engine. */
function linkedCrates(triple) {
  const args = ['metadata', '--format-version=1', '--locked', `--filter-platform=${triple}`];
  const output = execFileSync('cargo', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });
  const { packages, resolve } = JSON.parse(output);
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
  const linked = new Set();
  const visit = (id) => {
    if (linked.has(id)) return;
    linked.add(id);
    for (const { pkg, dep_kinds } of nodes.get(id).deps) {
      if (dep_kinds.some(({ kind }) => kind === null)) visit(pkg);
    }
  };
  visit(packages.find(({ name }) => name === 'cosift-binding').id);
  return packages
    .filter(({ id, source }) => linked.has(id) && source !== null)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

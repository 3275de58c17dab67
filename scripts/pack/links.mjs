// Links of Markdown pages in a package: what the package does not contain is linked on GitHub.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { readManifest } from './stage.mjs';

const MARKDOWN_LINK = /(?<=\]\()([^)\s]+)(?=\))/g;
const HTML_LINK = /(?<=\b(?:href|src|srcset)=")([^"\s]+)(?=")/g;

/**
 * Rewrites the relative links of pages in place. `pages` maps each page to its path in the checkout; `packedPath` maps a
 * path in the checkout to the one in the package.
 */
export function rewriteLinks(directory, pages, packedPath) {
  const { version, repository } = readManifest();
  const github = repository.url.replace(/^git\+|\.git$/g, '');
  for (const [page, source] of Object.entries(pages)) {
    const rewrite = (link) => {
      if (/^([a-z]+:|#|\/)/.test(link)) return link;
      const [path, anchor] = link.split('#');
      const target = posix.join(posix.dirname(source), path);
      const packed = packedPath(target);
      const suffix = anchor === undefined ? '' : `#${anchor}`;
      if (packed !== undefined && existsSync(join(directory, packed))) {
        return posix.relative(posix.dirname(page), packed) + suffix;
      }
      // GitHub serves a picture as a file only under `raw`.
      const kind = /\.(png|svg|jpe?g|gif|webp)$/.test(path) ? 'raw' : 'blob';
      return `${github}/${kind}/v${version}/${target}${suffix}`;
    };
    const file = join(directory, page);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(MARKDOWN_LINK, rewrite).replace(HTML_LINK, rewrite));
  }
}

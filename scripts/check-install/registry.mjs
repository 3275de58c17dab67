// A registry on this machine that has the packed packages, and sends every other request to the registry that npm uses.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename } from 'node:path';

/** Serves `tarballs`, which are `{ file, manifest }`; requests for anything else are redirected to `upstream`. */
export async function serveRegistry(tarballs, upstream) {
  const files = new Map(tarballs.map(({ file }) => [`/-/${basename(file)}`, file]));
  const manifests = new Map([
    ...tarballs
      .flatMap(({ manifest }) => otherPlatformsOf(manifest))
      .map((other) => [other.manifest.name, other]),
    ...tarballs.map((tarball) => [tarball.manifest.name, tarball]),
  ]);
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url);
    const known = manifests.get(path.slice(1));
    if (files.has(path)) {
      response.end(readFileSync(files.get(path)));
    } else if (known !== undefined) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(packumentOf(known, `http://${request.headers.host}`)));
    } else {
      // Upstream may have a path, such as that of a mirror.
      const base = upstream.endsWith('/') ? upstream : `${upstream}/`;
      response.writeHead(307, { location: new URL(request.url.slice(1), base).href }).end();
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    async close() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

/** The packages for other platforms, which were not packed here. Yarn needs to know them, but never fetches them. */
function otherPlatformsOf({ optionalDependencies = {} }) {
  return Object.entries(optionalDependencies).map(([name, version]) => ({
    manifest: { name, version, os: ['another'] },
  }));
}

/** The description of a package as a registry serves it. */
function packumentOf({ file, manifest }, url) {
  const { name, version } = manifest;
  const dist = { tarball: `${url}/-/${basename(file ?? 'not-packed.tgz')}` };
  if (file !== undefined) {
    dist.integrity = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  }
  return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } };
}

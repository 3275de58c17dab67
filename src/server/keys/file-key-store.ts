import path from 'node:path';
import { IssuedKeys } from './issued-keys.js';
import { KeyFile, prepareKeys } from './key-file.js';
import { hashKey } from './key-format.js';

/** The keys in `keys.json` of a data directory. */
export class FileKeyStore extends IssuedKeys {
  constructor(dataDirectory: string, adminKey: string) {
    super(new KeyFile(keysFile(dataDirectory)), hashKey(adminKey));
  }

  /**
   * Opens the store of a service. No other service may run on the directory.
   *
   * @throws {CosiftError} `damaged` when the file was changed by another program.
   */
  static async open(dataDirectory: string, adminKey: string): Promise<FileKeyStore> {
    await prepareKeys(keysFile(dataDirectory));
    return new FileKeyStore(dataDirectory, adminKey);
  }
}

function keysFile(dataDirectory: string): string {
  return path.join(dataDirectory, 'keys.json');
}

// Loaded before a process's own code: makes any use of the network the end of it.
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

const refuse = () => {
  console.error('the network was used', new Error().stack);
  process.exit(70);
};
net.Socket.prototype.connect = refuse;
dns.lookup = refuse;
dns.promises.lookup = refuse;
syncBuiltinESMExports();

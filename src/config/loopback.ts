import ipaddr from 'ipaddr.js';

/** Returns whether `host`, a name or an address, is this machine itself: `localhost`, 127.0.0.0/8 or ::1. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '');
  if (name.toLowerCase() === 'localhost') return true;
  return ipaddr.isValid(name) && ipaddr.process(name).range() === 'loopback';
}

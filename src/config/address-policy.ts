import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * The addresses that webhooks may reach: public ones, and those of the setting `webhook_allow`.
 *
 * An entry of the setting is an address, a range in CIDR notation, or a host name, which may then have any address.
 */
export class AddressPolicy {
  readonly #ranges: [Address, number][] = [];
  readonly #hosts = new Set<string>();

  /** Throws for an invalid entry. */
  constructor(allowed: readonly string[] = []) {
    for (const entry of allowed) {
      if (ipaddr.isValidCIDR(entry)) this.#ranges.push(ipaddr.parseCIDR(entry));
      else if (isIP(entry) !== 0) this.#ranges.push(rangeOf(ipaddr.process(entry)));
      else if (HOST.test(entry)) this.#hosts.add(entry.toLowerCase());
      else
        throw new Error(`${JSON.stringify(entry)} is neither an address, nor a CIDR range, nor a host name`);
    }
  }

  /** Whether a webhook may connect to `address`, one of the addresses of `host`. */
  allows(host: string, address: string): boolean {
    if (this.#hosts.has(host.toLowerCase())) return true;
    const parsed = parse(address);
    if (parsed === undefined) return false;
    if (isPublic(parsed)) return true;
    return this.#ranges.some(([base, bits]) => base.kind() === parsed.kind() && matches(parsed, base, bits));
  }

  /** Whether every address of `host` is refused, as far as can be told without DNS. */
  refusesHost(host: string): boolean {
    const address = parse(host);
    if (address !== undefined) return !this.allows(host, address.toString());
    return (
      /(^|\.)localhost\.?$/i.test(host) && !this.#hosts.has(host.toLowerCase()) && !this.#allowsLoopback()
    );
  }

  #allowsLoopback(): boolean {
    return this.allows('', '127.0.0.1') || this.allows('', '::1');
  }
}

// At least one letter, because some resolvers read a single number as an IPv4 address.
const HOST = /^(?=.*[a-z])[a-z0-9_]([a-z0-9_.-]*[a-z0-9_.])?$/i;

/** Global unicast addresses of IPv6. All addresses outside this range are reserved. */
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3');

/** Parses an address. An IPv4-mapped IPv6 address becomes an IPv4 address. */
function parse(address: string): Address | undefined {
  return isIP(address) === 0 ? undefined : ipaddr.process(address);
}

/** Returns the host of a URL: a name, or an address without the brackets of IPv6. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(GLOBAL_V6);
}

function rangeOf(address: Address): [Address, number] {
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

function matches(address: Address, base: Address, bits: number): boolean {
  return (address as ipaddr.IPv6).match(base as ipaddr.IPv6, bits);
}

/** Returns whether `host`, a name or an address, is this machine itself: `localhost`, 127.0.0.0/8 or ::1. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '');
  if (name.toLowerCase() === 'localhost') return true;
  return ipaddr.isValid(name) && ipaddr.process(name).range() === 'loopback';
}

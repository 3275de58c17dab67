export { AddressPolicy, hostOf, isLoopback } from './address-policy.js';
export { ConfigError } from './config-error.js';
export { readConfigFile } from './config-file.js';
export { type Endpoint, isEndpoint, parseEndpoint } from './endpoint.js';
export { resolveConfig } from './resolve.js';
export { type Config, SETTINGS } from './settings.js';

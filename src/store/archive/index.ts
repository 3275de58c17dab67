export * from './manifest.js';
export * from './tar.js';

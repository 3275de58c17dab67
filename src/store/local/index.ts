export { ALIASES_FILE } from './aliases-file.js';
export { FollowingStore } from './following-store.js';
export { LocalDoctor } from './local-doctor.js';
export { LocalStore } from './local-store.js';
export { RecordChecker } from './record-checker.js';
export { checkJson } from './strict-json.js';

export { Doctor } from './doctor.js';
export type { ExamineAllCall } from './examine-all.js';
export { examineDirectory } from './examine-directory.js';

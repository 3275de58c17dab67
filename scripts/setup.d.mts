export function buildTypeScript(): void;
export function typeScriptIsBuilt(): boolean;

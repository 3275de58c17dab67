export function skippedInCargo(output: string): string[];

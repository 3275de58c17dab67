export const integerId = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;
export const uuid = {
  type: 'string',
  format: 'uuid',
  pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
} as const;

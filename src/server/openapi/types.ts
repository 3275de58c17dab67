export interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: { schemas: Record<string, object>; [kind: string]: object };
  [member: string]: unknown;
}

export interface OpenApiOperation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: object[];
  requestBody?: object;
  responses: Record<string, OpenApiResponse>;
  security: object[];
}

export interface OpenApiResponse {
  description: string;
  content?: Record<string, object>;
  headers?: object;
}

import { groupSchema, nodeSchema } from '../../schema/filter.js';
import { integerId, uuid } from '../../schema/ids.js';
import { COMPONENTS, checkerOf } from '../../schema/index.js';
import { ref } from '../../schema/json-schema.js';
import { mapRequestSchema, pointSchema, pointsSchema } from '../../schema/map.js';
import { pageSchema, recordSchema, timestampsSchema } from '../../schema/pages.js';
import { newTimestampsSchema } from '../../schema/records.js';
import {
  boostSchema,
  filterBoostSchema,
  nearnessBoostSchema,
  queryRequestSchema,
  searchRequestSchema,
  searchSchema,
  sortSchema,
} from '../../schema/search.js';
import { searchesRequestSchema, searchOutcomeSchema, searchOutcomesSchema } from '../../schema/searches.js';

const TIMES_B = ['first_seen_time', 'last_changed_time', 'last_seen_time'] as const;
const UUID_AS_ID = { id: { ...uuid, description: 'UUID of the record.' } };
const INTEGER_ID = { id: integerId };

/** The schemas of the HTTP interface: those of cosift, and those of its two variants. */
export const SERVICE_COMPONENTS = {
  ...COMPONENTS,
  FilterNodeA: nodeSchema('FilterGroupA'),
  FilterGroupA: groupSchema('FilterNodeA', ['condition', 'rules'], 'Required in variant A.'),
  FilterBoostA: filterBoostSchema('FilterGroupA'),
  BoostA: boostSchema('FilterBoostA', 'NearnessBoost'),
  SearchA: searchSchema('BoostA'),
  SearchRequestA: searchRequestSchema('SearchA', 'FilterGroupA'),
  SearchesRequestA: searchesRequestSchema('SearchRequestA'),
  QueryRequestA: queryRequestSchema('FilterGroupA', 'Sort'),
  MapRequestA: mapRequestSchema('SearchA', 'FilterGroupA'),
  FilterNodeB: nodeSchema('FilterGroupB'),
  FilterGroupB: groupSchema('FilterNodeB', ['rules'], 'Default: `AND`.'),
  FilterBoostB: filterBoostSchema('FilterGroupB'),
  NearnessBoostB: nearnessBoostSchema(TIMES_B),
  BoostB: boostSchema('FilterBoostB', 'NearnessBoostB'),
  SearchB: searchSchema('BoostB'),
  SearchRequestB: searchRequestSchema('SearchB', 'FilterGroupB'),
  SearchesRequestB: searchesRequestSchema('SearchRequestB'),
  SortB: sortSchema(TIMES_B),
  QueryRequestB: queryRequestSchema('FilterGroupB', 'SortB'),
  MapRequestB: mapRequestSchema('SearchB', 'FilterGroupB'),
  TimestampsB: timestampsSchema(TIMES_B),
  RecordA: recordSchema(UUID_AS_ID, 'Timestamps'),
  RecordB: recordSchema(INTEGER_ID, 'TimestampsB'),
  RecordAOrB: {
    anyOf: [ref('RecordA'), ref('RecordB')],
  },
  PageA: pageSchema('RecordA'),
  PageB: pageSchema('RecordB'),
  SearchOutcomeA: searchOutcomeSchema('PageA'),
  SearchOutcomeB: searchOutcomeSchema('PageB'),
  SearchOutcomesA: searchOutcomesSchema('SearchOutcomeA'),
  SearchOutcomesB: searchOutcomesSchema('SearchOutcomeB'),
  PointA: pointSchema(UUID_AS_ID),
  PointB: pointSchema(INTEGER_ID),
  PointsA: pointsSchema('PointA'),
  PointsB: pointsSchema('PointB'),
  NewTimestampsA: COMPONENTS.NewTimestamps,
  NewTimestampsB: newTimestampsSchema(TIMES_B),
  /** Times with the names of either variant, chosen by the members that are present. */
  NewTimestamps: {
    description: 'Times to store instead of now, for a migration; with one set of names.',
    if: { type: 'object', anyOf: TIMES_B.map((name) => ({ required: [name] })) },
    // biome-ignore lint/suspicious/noThenProperty: the keyword's name
    then: ref('NewTimestampsB'),
    else: ref('NewTimestampsA'),
  },
} as const;

export type ServiceComponent = keyof typeof SERVICE_COMPONENTS;

/** Checks that a value is an instance of a schema of the HTTP interface, as `checkSchema` does. */
export const checkServiceSchema: (name: ServiceComponent, value: unknown) => void =
  checkerOf(SERVICE_COMPONENTS);

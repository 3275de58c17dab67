import { describe } from 'vitest';
import { describeAliases } from './aliases.js';
import { describeBatches } from './batches.js';
import { describeBoosts } from './boosts.js';
import { describeChanges } from './changes.js';
import { describeClosing } from './closing.js';
import { describeColumns } from './columns.js';
import { describeConditions } from './conditions.js';
import { describeCounts } from './counts.js';
import { describeDatabases } from './databases.js';
import { describeDeletes } from './deletes.js';
import { describeDistinct } from './distinct.js';
import { describeDurability } from './durability.js';
import { describeExamples } from './examples.js';
import { describeExplain } from './explain.js';
import { describeExports } from './exports.js';
import { describeFilters } from './filters.js';
import { describeHighlights } from './highlights.js';
import { describeLines } from './lines.js';
import { describeLists } from './lists.js';
import { describeMaps } from './maps.js';
import { describeNested } from './nested.js';
import type { OpenDatabases } from './open-databases.js';
import { describePages } from './pages.js';
import { describePassages } from './passages.js';
import { describePatches } from './patches.js';
import { describePatchesOfTexts } from './patches-of-texts.js';
import { describePatchesSideBySide } from './patches-side-by-side.js';
import { describeReembedding } from './reembedding.js';
import { describeRefusedRecords } from './refused-records.js';
import { describeRefusedRequests } from './refused-requests.js';
import { describeReplacements } from './replacements.js';
import { describeScopes } from './scopes.js';
import { describeScores } from './scores.js';
import { describeSettings } from './settings.js';
import { describeSorts } from './sorts.js';
import { describeSyncs } from './syncs.js';
import { describeTexts } from './texts.js';
import { describeTimes } from './times.js';
import { describeUpserts } from './upserts.js';
import { describeVariants } from './variants.js';
import { describeVectors } from './vectors.js';

/** The contract that a service keeps over any store. */
export function describeContract(store: string, open: OpenDatabases): void {
  describe(`the contract on ${store}`, () => {
    describeVariants(open);
    describeFilters(open);
    describePages(open);
    describeBatches(open);
    describeBoosts(open);
    describeColumns(open);
    describeDistinct(open);
    describeVectors(open);
    describeExamples(open);
    describeTimes(open);
    describeCounts(open);
    describeExplain(open);
    describeMaps(open);
    describeSorts(open);
    describeScopes(open);
    describeUpserts(open);
    describePatches(open);
    describePatchesOfTexts(open);
    describePatchesSideBySide(open);
    describeConditions(open);
    describeLines(open);
    describeLists(open);
    describeNested(open);
    describeExports(open);
    describeDeletes(open);
    describeReplacements(open);
    describeSyncs(open);
    describeChanges(open);
    describeTexts(open);
    describeScores(open);
    describeHighlights(open);
    describePassages(open);
    describeRefusedRequests(open);
    describeRefusedRecords(open);
    describeReembedding(open);
    describeDurability(open);
    describeDatabases(open);
    describeSettings(open);
    describeAliases(open);
    describeClosing(open);
  });
}

/** The part of the contract that depends on the transactions of a store. */
export function describeWrites(store: string, open: OpenDatabases): void {
  describe(`the writes of the contract on ${store}`, () => {
    describePatchesSideBySide(open);
    describeConditions(open);
    describeChanges(open);
    describeReplacements(open);
    describeSyncs(open);
    describeReembedding(open);
    describeDurability(open);
    describeAliases(open);
    describeDatabases(open);
    describeSettings(open);
  });
}

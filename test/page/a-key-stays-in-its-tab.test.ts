import { expect, test as testWithoutBrowser } from 'vitest';
import { testInFull } from '../helpers/full.js';
import { Command, temporaryDirectory } from '../helpers/processes.js';
import type { Service } from '../server/service.js';
import { inBrowser } from './browser.js';
import { storeFacts } from './facts.js';

const test = inBrowser(async (service) => {
  await storeFacts(service, 'facts');
  await service.call('PUT', '/v1/databases/other', {});
});

async function keyWith(service: Service, actions: string[], more: object = {}): Promise<string> {
  const request = { name: 'limited', actions, databases: ['facts'], ...more };
  return (await service.call('POST', '/v1/keys', request)).body.key;
}

testInFull('the first start prints a link to the page with the demo and the key', async () => {
  const data = await temporaryDirectory();
  const command = new Command(['serve', '--demo', '--port', '0', '--data', data]);
  const [, url, fragment] = await command.waitFor('stdout', /page: (http:\S+)\/#(\S+)\n/);
  const [, key] = /: (cosift_\S+)/.exec(command.stdout) ?? [];
  expect(Object.fromEntries(new URLSearchParams(fragment))).toEqual({ database: 'demo', key });
  await command.waitFor('stdout', new RegExp(`listening on ${url}\n`));
});

test('the key of a link is removed from the address at once, and kept for the tab', async ({
  open,
  service,
}) => {
  const { page } = await open({ database: 'facts', text: 'tower' });
  await page.getByRole('list', { name: 'Results' }).waitFor();
  expect(page.url()).toBe(`${service.url}/#database=facts&text=tower`);
  expect(await page.evaluate<number>('history.length')).toBeLessThanOrEqual(2);
  expect(await page.evaluate<string>('JSON.stringify([sessionStorage, localStorage, document.cookie])')).toBe(
    JSON.stringify([{ 'cosift.key': service.adminKey }, {}, '']),
  );
  await page.reload();
  await page.getByRole('list', { name: 'Results' }).waitFor();
  const other = await open({ database: 'facts' }, { key: null });
  await other.page.getByRole('heading', { name: 'Enter a key' }).waitFor();
});

test.inFull(
  'a link with another key replaces the key of the tab only if the user says so',
  async ({ open, service }) => {
    const { page } = await open({ database: 'facts' });
    await page.getByRole('list', { name: 'Results' }).waitFor();
    const stored = () => page.evaluate<string>("sessionStorage.getItem('cosift.key')");
    const other = await keyWith(service, ['search']);
    const dialog = page.getByRole('dialog', { name: 'The link has another key' });
    const follow = (key: string) =>
      page.evaluate(`location.hash = ${JSON.stringify(`database=facts&key=${key}`)}`);
    // In the page that is open, and by a new load of the page.
    for (const load of [false, true]) {
      await follow(other);
      await dialog.waitFor();
      if (load) {
        await dialog.getByRole('button', { name: 'Keep my key' }).click();
        await page.goto('about:blank');
        await page.goto(`${service.url}/#database=facts&key=${other}`);
        await dialog.waitFor();
      }
      expect(page.url()).not.toContain('key=');
      expect(await stored()).toBe(service.adminKey);
      await page.keyboard.press('Escape');
      await expect.poll(() => dialog.count()).toBe(0);
      expect(await stored()).toBe(service.adminKey);
      await page.getByRole('button', { name: 'Import', exact: true }).waitFor();
    }
    // The same key needs no question.
    await follow(service.adminKey);
    await expect.poll(() => page.url()).toBe(`${service.url}/#database=facts`);
    expect(await dialog.count()).toBe(0);
    await follow(other);
    await dialog.getByRole('button', { name: 'Use the key of the link' }).click();
    await expect.poll(() => page.getByRole('button', { name: 'Import', exact: true }).count()).toBe(0);
    expect(await stored()).toBe(other);
  },
);

test('a key is entered, refused, and forgotten', async ({ open, service }) => {
  const tab = await open({}, { key: null });
  const { page } = tab;
  tab.expected.add(401);
  const field = page.getByLabel('Key', { exact: true });
  await field.fill('wrong');
  await page.getByRole('button', { name: 'Use this key' }).click();
  await page.getByText('the key is not valid').waitFor();
  await field.fill('two words');
  await page.getByRole('button', { name: 'Use this key' }).click();
  await page.getByText('no spaces').waitFor();
  await field.fill(service.adminKey);
  await page.keyboard.press('Enter');
  await page.getByRole('list', { name: 'Results' }).waitFor();
  await page.getByRole('button', { name: 'Key' }).click();
  await page.getByRole('button', { name: 'Forget this key' }).click();
  await field.waitFor();
  expect(await page.evaluate<number>('sessionStorage.length')).toBe(0);
});

test('a key that may only search sees its database, and no import', async ({ open, service }) => {
  const tab = await open({}, { key: await keyWith(service, ['search']) });
  const { page } = tab;
  await tab.status(/^331 records/);
  expect(await page.getByRole('combobox', { name: 'Database' }).locator('option').allTextContents()).toEqual([
    'facts',
  ]);
  expect(await page.getByRole('button', { name: 'Import' }).count()).toBe(0);
  // Columns are those of the results.
  await page.getByRole('button', { name: 'Add rule' }).click();
  expect(await page.getByRole('combobox', { name: 'Column' }).locator('option').allTextContents()).toContain(
    'name (text)',
  );
  await page.getByRole('button', { name: 'Databases' }).click();
  expect(await page.getByRole('button', { name: /^Delete/ }).count()).toBe(0);
});

test.inFull('a key with a filter sees only what passes it', async ({ open, service }) => {
  const filter = { rules: [{ column: 'country', operator: 'equals', value: 'France' }] };
  const actions = ['search', 'records.read', 'records.write'];
  const tab = await open({}, { key: await keyWith(service, actions, { filter }) });
  const { body } = await service.call('POST', '/v1/databases/facts/query', { filter, total: true });
  await tab.status(new RegExp(`^${body.total.value} records`));
  expect(await tab.page.getByRole('button', { name: 'Import' }).count()).toBe(0);
});

test.inFull('a key that may only write says so, and imports', async ({ open, service }) => {
  const { page } = await open({}, { key: await keyWith(service, ['records.write']) });
  await page.getByRole('heading', { name: 'This key may not search' }).waitFor();
  await page.getByRole('button', { name: 'Import a file' }).click();
  await page.getByRole('dialog', { name: 'Import a file' }).waitFor();
});

test.inFull('a key of all databases that cannot list them is asked for a name', async ({ open, service }) => {
  const tab = await open({}, { key: await keyWith(service, ['search'], { databases: '*' }) });
  await tab.page.getByRole('textbox', { name: 'Name of the database' }).fill('facts');
  await tab.page.getByRole('button', { name: 'Open' }).click();
  await tab.status(/^331 records/);
  await tab.page.getByRole('button', { name: 'Databases' }).click();
  await tab.page.getByText('This key cannot list databases.').waitFor();
});

testWithoutBrowser('a key reads what it may do', async () => {
  const { Service: Started } = await import('../server/service.js');
  const service = await Started.start();
  const expires = '2100-01-01T00:00:00.000Z';
  const filter = { rules: [{ column: 'a', operator: 'is_empty' }] };
  const key = await keyWith(service, ['search'], { expires_at: expires, filter });
  const own = await service.call('GET', '/v1/keys/self', undefined, { 'x-api-key': key });
  expect(own.body).toMatchObject({
    name: 'limited',
    actions: ['search'],
    databases: ['facts'],
    expires_at: expires,
    filtered: true,
  });
  expect(own.text).not.toContain('is_empty');
  const admin = (await service.call('GET', '/v1/keys/self')).body;
  expect(admin).toMatchObject({ key_id: 'admin', name: 'admin', databases: '*', filtered: false });
  expect(admin.actions).toContain('keys.manage');
  expect((await service.call('GET', '/v1/keys/self', undefined, { 'x-api-key': 'x' })).status).toBe(401);
  await service.stop();
});

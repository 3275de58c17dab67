import { expect } from 'vitest';
import { type Fragment, inBrowser, type Tab } from './browser.js';

const test = inBrowser(async () => undefined);

const CSV = [
  'id,title,price,in_stock,code',
  '7,Rain jacket,59.5,true,007',
  '8,"Sun hat, wide",12,false,008',
  '9,Tent',
  '7,Twice,1,true,009',
  '10,Stove,33,true,010',
].join('\r\n');

const file = (name: string, text: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });

/** Opens the dialog, gives it a file, and waits for the preview. */
async function choose(tab: Tab, name: string, text: string) {
  const { page } = tab;
  await page
    .getByRole('button', { name: /^Import/ })
    .first()
    .click();
  await page.locator('input[type=file]').setInputFiles(file(name, text));
  await page.getByRole('group', { name: 'First rows' }).waitFor();
}

const submit = (tab: Tab) => tab.page.getByRole('button', { name: 'Import', exact: true }).last().click();

test('a CSV file becomes a database, with types, identities and its bad lines', async ({ open, service }) => {
  const tab = await open();
  const { page } = tab;
  await page.getByRole('heading', { name: 'There is no database yet' }).waitFor();
  await choose(tab, 'My Products (2024).csv', CSV);
  const typeOf = (column: string) => page.getByRole('combobox', { name: `Type of ${column}` }).inputValue();
  expect(await Promise.all(['title', 'price', 'in_stock', 'code'].map(typeOf))).toEqual([
    'text',
    'number',
    'boolean',
    'text',
  ]);
  expect(await page.locator('.preview').textContent()).toContain('1 row cannot be read');
  expect(await page.getByLabel('Identity').locator('option').first().textContent()).toBe('column id');
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('my-products-2024');
  await page.getByRole('combobox', { name: 'Type of price' }).selectOption('text');
  await submit(tab);
  await page.getByRole('heading', { name: '3 records stored in my-products-2024' }).waitFor();
  expect(await page.locator('.bad-lines tbody tr').allTextContents()).toEqual([
    '4the row has 2 fields, the header 5 columns',
    '5line 2 has the id 7 too; only that line is stored',
  ]);
  await page.getByRole('button', { name: 'Search my-products-2024' }).click();
  await tab.status(/^3 records/);
  const { body } = await service.call('GET', '/v1/databases/my-products-2024/records/7');
  expect(body.data).toEqual({ title: 'Rain jacket', price: '59.5', in_stock: true, code: '007' });
});

test.inFull('a long list of bad lines can be scrolled by the keyboard', async ({ open }) => {
  const tab = await open();
  const lines = Array.from({ length: 60 }, (_, at) =>
    at % 2 === 0 ? `{"id":${at + 1},"name":"A"}` : 'not json',
  );
  await choose(tab, 'many-bad-lines.ndjson', lines.join('\n'));
  await submit(tab);
  await tab.page.getByRole('heading', { name: '30 records stored in many-bad-lines' }).waitFor();
  const list = tab.page.getByRole('group', { name: 'Lines that are not stored' });
  await list.focus();
  await tab.page.keyboard.press('End');
  await expect.poll(() => list.evaluate((element) => element.scrollTop)).toBeGreaterThan(0);
  await tab.checkAccessibility('an import with many bad lines');
});

for (const [name, text, define] of [
  ['lines.ndjson', '{"id":1,"name":"A","place":{"city":"Rome"}}\nnot json\n{"id":2,"name":"B"}\n', test],
  [
    'list.json',
    '[{"id":1,"name":"A","place":{"city":"Rome"}},\n nonsense,\n{"id":2,\n"name":"B"}]',
    test.inFull,
  ],
] as const) {
  define(
    `${name}: nested objects become columns, and what is not JSON is reported`,
    async ({ open, service }) => {
      const tab = await open();
      await choose(tab, name, text);
      await submit(tab);
      const database = name.split('.')[0];
      await tab.page.getByRole('heading', { name: `2 records stored in ${database}` }).waitFor();
      expect(await tab.page.locator('.bad-lines tbody tr').count()).toBe(1);
      const { body } = await service.call('GET', `/v1/databases/${database}/records/1`);
      expect(body.data).toEqual({ name: 'A', 'place.city': 'Rome' });
    },
  );
}

test('a dropped file goes to an existing database, and again changes nothing', async ({ open, service }) => {
  await service.call('PUT', '/v1/databases/existing', {});
  const tab = await open({ database: 'existing' } satisfies Fragment);
  const { page } = tab;
  await tab.status(/^0 records/);
  const rows = ['name;size', 'one;1', 'two;2'].join('\n');
  for (const expected of ['2 new', '2 unchanged']) {
    await page.evaluate(`{
      const transfer = new DataTransfer();
      transfer.items.add(new File([${JSON.stringify(rows)}], 'sizes.csv'));
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }`);
    await page.getByRole('group', { name: 'First rows' }).waitFor();
    await page.getByRole('combobox', { name: 'Target database' }).selectOption('existing');
    await submit(tab);
    await page.getByRole('heading', { name: '2 records stored in existing' }).waitFor();
    expect(await page.locator('.facts-line').textContent()).toContain(expected);
    await page.getByRole('button', { name: 'Search existing' }).click();
    await tab.status(/^2 records/);
  }
});

test.inFull(
  'prices are numbers, and their database keeps how they are written',
  async ({ open, service }) => {
    await service.call('PUT', '/v1/databases/sold', {
      embed: { columns: ['name'] },
      formats: { price: '0.00' },
    });
    const tab = await open();
    const text = 'name,price,rate\nHat,749.10,.5\nPen,5.00,.25\n';
    for (const [target, name] of [
      ['', 'prices'],
      ['sold', 'sold'],
    ] as const) {
      await choose(tab, 'prices.csv', text);
      await tab.page.getByLabel('Target database').selectOption(target);
      await submit(tab);
      await tab.page.getByRole('heading', { name: `2 records stored in ${name}` }).waitFor();
      const { body } = await service.call('GET', `/v1/databases/${name}`);
      expect(body.formats).toEqual({ price: '0.00', rate: '.#' });
      expect(body.columns).toContainEqual({ name: 'price', types: ['number'], records: 2 });
      await tab.page.getByRole('button', { name: `Search ${name}` }).click();
      await tab.status(/^2 records/);
    }
  },
);

test.inFull(
  'a column that is left out is not stored, nor offered for the search',
  async ({ open, service }) => {
    const tab = await open();
    await choose(tab, 'secrets.csv', 'id,name,"a, b",a,price\n1,Hat,secret,x,5.00\n2,Pen,secret,y,2.50\n');
    expect(await tab.page.getByLabel('Type of id').locator('option').allTextContents()).not.toContain(
      'left out',
    );
    await tab.page.getByLabel('Type of a, b').selectOption('left out');
    await tab.page.getByLabel('Type of price').selectOption('left out');
    expect(await tab.page.locator('.embedding label').allTextContents()).not.toContain('a, b');
    await submit(tab);
    await tab.page.getByRole('heading', { name: '2 records stored in secrets' }).waitFor();
    const { body } = await service.call('GET', '/v1/databases/secrets');
    expect(body.columns.map(({ name }: { name: string }) => name)).toEqual(['name', 'a']);
    expect(body).not.toHaveProperty('formats');
  },
);

test.inFull('one value of another kind stores no record twice', async ({ open, service }) => {
  await service.call('PUT', '/v1/databases/kinds', {});
  const records = [1, 2].map((id) => ({ id, data: { name: 'a' } }));
  await service.call('POST', '/v1/databases/kinds/records', { records });
  const tab = await open();
  // The import asks for records that may be missing, of a service that may be busy.
  tab.expected.add(404).add(429);
  let requests = 0;
  await tab.page.route('**/kinds/records/*', async (route) => {
    requests += 1;
    const body = JSON.stringify({ code: 'rate_limited', detail: 'The quota is used up.' });
    if (requests === 1) await route.fulfill({ status: 429, headers: { 'retry-after': '0' }, body });
    else await route.continue();
  });
  await choose(tab, 'kinds.csv', 'id,name\nx3,c\n1,b\n2,b\n');
  await tab.page.getByLabel('Target database').selectOption('kinds');
  await submit(tab);
  await tab.page.getByText('give the column "id" the type number to keep the integer ids').waitFor();
  expect((await service.call('GET', '/v1/databases/kinds')).body.records).toBe(2);
});

test.inFull('a cancelled import keeps what is stored, and says how much', async ({ open, service }) => {
  const tab = await open();
  const { page } = tab;
  // The second import asks for records that may be missing.
  tab.expected.add(404);
  const rows = Array.from({ length: 600 }, (_, at) => `${at + 1},name ${at + 1}`);
  await choose(tab, 'many.csv', ['id,name', ...rows].join('\n'));
  let requests = 0;
  await page.route('**/many/records', async (route) => {
    requests += 1;
    // The second request is never answered.
    if (requests === 1) await route.continue();
  });
  await submit(tab);
  await expect.poll(() => requests).toBe(2);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('heading', { name: 'Cancelled. At least 250 records stay stored in many' }).waitFor();
  expect((await service.call('GET', '/v1/databases/many')).body.records).toBe(250);
  // The rest can be imported into the same database at once.
  await page.unroute('**/many/records');
  await page.getByRole('button', { name: 'Import another file' }).click();
  await page.locator('input[type=file]').setInputFiles(file('many.csv', ['id,name', ...rows].join('\n')));
  await page.getByRole('combobox', { name: 'Target database' }).selectOption('many');
  await submit(tab);
  await page.getByText('350 new').waitFor();
  await page.getByText('250 unchanged').waitFor();
});

test('a file that is no text is refused with the next step', async ({ open }) => {
  const { page } = await open();
  await page
    .getByRole('button', { name: /^Import/ })
    .first()
    .click();
  await page.locator('input[type=file]').setInputFiles(file('x.parquet', 'PAR1\0\0'));
  await page.getByText('The command "cosift import" reads other encodings').waitFor();
});

test('a database is deleted only after its name is typed', async ({ open, service }) => {
  await service.call('PUT', '/v1/databases/to-delete', {});
  const { page } = await open({ database: 'to-delete' });
  await page.getByRole('button', { name: 'Databases' }).click();
  const item = page.getByRole('listitem').filter({ hasText: 'to-delete' });
  expect(await item.textContent()).toMatch(/ready.*0 records.*all-MiniLM-L6-v2.*on disk/s);
  await item.getByRole('button', { name: 'Delete to-delete' }).click();
  const confirm = item.getByRole('button', { name: 'Delete to-delete' });
  expect(await confirm.isDisabled()).toBe(true);
  await item.getByRole('textbox').fill('to-delet');
  expect(await confirm.isDisabled()).toBe(true);
  await item.getByRole('textbox').fill('to-delete');
  await confirm.click();
  await page.getByText('The database to-delete is deleted.').waitFor();
  await expect.poll(() => item.count()).toBe(0);
  expect(await page.evaluate(`document.activeElement.textContent`)).toBe(
    'The database to-delete is deleted.',
  );
  expect((await service.call('GET', '/v1/databases/to-delete')).status).toBe(404);
});

test.inFull(
  'the list of databases has those that were created and deleted elsewhere',
  async ({ open, service }) => {
    for (const id of ['deleted-elsewhere', 'shown']) await service.call('PUT', `/v1/databases/${id}`, {});
    const { page } = await open({ database: 'shown' });
    await page.getByRole('combobox', { name: 'Database', exact: true }).waitFor();
    await service.call('PUT', '/v1/databases/created-elsewhere', {});
    await service.call('DELETE', '/v1/databases/deleted-elsewhere');
    await page.getByRole('button', { name: 'Databases' }).click();
    await page.getByRole('button', { name: 'created-elsewhere', exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'deleted-elsewhere', exact: true }).count()).toBe(0);
  },
);

test.inFull('a new database never takes the place of one that exists', async ({ open, service }) => {
  const record = { id: 1, data: { name: 'original', note: 'kept' } };
  const store = async (database: string, settings = {}) => {
    await service.call('PUT', `/v1/databases/${database}`, settings);
    await service.call('POST', `/v1/databases/${database}/records`, { records: [record] });
  };
  const isKept = async (database: string) => {
    const { body } = await service.call('GET', `/v1/databases/${database}/records/1`);
    expect(body.data).toEqual(record.data);
  };
  await store('taken');
  const tab = await open();
  const { page } = tab;
  await choose(tab, 'taken.csv', 'id,name\n1,from the file\n');
  const name = page.getByLabel('Name', { exact: true });
  expect(await name.inputValue()).toBe('taken-2');
  await name.fill('taken');
  await submit(tab);
  await page.getByRole('alert').filter({ hasText: 'There is a database taken already' }).waitFor();
  await isKept('taken');
  // Those that the page does not know yet: with the settings of the import, and with others.
  tab.expected.add(409);
  for (const [database, settings] of Object.entries({ alike: { embed: { columns: ['name'] } }, other: {} })) {
    await store(database, settings);
    await name.fill(database);
    await submit(tab);
    await page
      .getByRole('alert')
      .filter({ hasText: `There is a database ${database} already` })
      .waitFor();
    expect(await page.getByRole('button', { name: /^Search / }).count()).toBe(0);
    await isKept(database);
    // The next database is stored when the page has listed those of before.
    const listed = page.waitForResponse((response) => response.url().endsWith('/v1/databases'));
    await page.getByRole('button', { name: 'Import another file' }).click();
    await listed;
    await page.locator('input[type=file]').setInputFiles(file('taken.csv', 'id,name\n1,from the file\n'));
  }
});

test.inFull(
  'the preview says how a file of another program is read, and which columns look like another type',
  async ({ open }) => {
    const tab = await open();
    await choose(tab, 'dump.tsv', '\tname\tprice\n1\t"Heroes\t1.10\n2\t12" vinyl\t2\n');
    const preview = await tab.page.locator('.preview').textContent();
    expect(preview).toContain('CSV, separated by tabs, without quotes · 2 rows');
    expect(preview).toContain('column 1 is called "column1", because it has no name');
    expect(preview).toContain(
      'price looks like numbers, but is text because of 2 in line 3 beside 1.10 in line 2: choose the type number',
    );
  },
);

test.inFull('a file without records is not imported', async ({ open }) => {
  const tab = await open();
  await choose(tab, 'header.csv', 'id,name\n');
  await tab.page.getByText('The file has no records.').waitFor();
  expect(await tab.page.getByRole('button', { name: 'Import', exact: true }).last().isDisabled()).toBe(true);
});

test.inFull('Escape during an import cancels it, and shows what is stored', async ({ open }) => {
  const tab = await open();
  const { page } = tab;
  let requests = 0;
  // The request is never answered.
  await page.route('**/left/records', async () => {
    requests += 1;
  });
  await choose(tab, 'left.csv', 'id,name\n1,one\n');
  await submit(tab);
  await expect.poll(() => requests).toBe(1);
  await page.keyboard.press('Escape');
  await page.getByRole('heading', { name: 'Cancelled. At least 0 records stay stored in left' }).waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
});

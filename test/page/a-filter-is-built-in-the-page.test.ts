import { expect } from 'vitest';
import { inFull } from '../helpers/full.js';
import { inBrowser } from './browser.js';
import { storeFacts } from './facts.js';

const test = inBrowser((service) => storeFacts(service, 'facts'));

const OPERATORS = [
  'equals',
  'not_equals',
  'greater_than',
  'greater_than_or_equals',
  'less_than',
  'less_than_or_equals',
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
  'is_empty',
  'is_not_empty',
  'in',
  'not_in',
  'before',
  'on_or_before',
  'after',
  'on_or_after',
];

test('a rule filters the results, with each operator', async ({ open, service }) => {
  const tab = await open({ database: 'facts' });
  const { page } = tab;
  // Between the choice of an operator and of its value, the two may not fit.
  tab.expected.add(400);
  await tab.status(/^331 records/);
  const filter = page.getByRole('group', { name: 'Filter' });
  await filter.getByRole('button', { name: 'Add rule' }).click();
  // A rule without a value is no part of the request yet.
  await tab.status(/^331 records/);
  const [column, operator] = [
    filter.getByRole('combobox', { name: 'Column' }),
    filter.getByRole('combobox', { name: 'Operator' }),
  ];
  const values = await operator.evaluate((select: unknown) =>
    [...(select as { options: Iterable<{ value: string }> }).options].map(({ value }) => value),
  );
  expect(values).toEqual(OPERATORS);
  expect(await column.locator('option').allTextContents()).toContain('height_m (number)');
  for (const name of inFull(OPERATORS, ['is_empty', 'greater_than', 'not_in'])) {
    const isNumeric = /greater|less/.test(name);
    const isTime = /before|after/.test(name);
    const isList = /^(not_)?in$/.test(name);
    const columnName = isNumeric ? 'height_m' : isTime ? 'opened' : 'country';
    const value = isNumeric ? '300' : isTime ? '1931-05-01T00:00Z' : isList ? 'France, "Italy"' : 'France';
    await column.selectOption(columnName);
    await operator.selectOption(name);
    const hasValue = !name.includes('empty');
    if (hasValue) await filter.getByRole('textbox', { name: 'Value' }).fill(value);
    expect(await filter.getByRole('textbox', { name: 'Value' }).count()).toBe(hasValue ? 1 : 0);
    const rule = {
      column: columnName,
      operator: name,
      ...(hasValue && { value: isNumeric ? 300 : isList ? ['France', 'Italy'] : value }),
    };
    const { body } = await service.call('POST', '/v1/databases/facts/query', {
      filter: { rules: [rule] },
      total: true,
    });
    await tab.status(new RegExp(`^${body.total.value} records? ·`));
  }
});

test('nested groups and their JSON are the same, whichever is edited', async ({ open }) => {
  const tab = await open({ database: 'facts' });
  const { page } = tab;
  await tab.status(/^331 records/);
  const filter = page.getByRole('group', { name: 'Filter' });
  await filter.getByText('JSON').click();
  const json = filter.getByRole('textbox', { name: 'Filter as JSON' });
  const nested = {
    condition: 'AND',
    rules: [
      { column: 'kind', operator: 'equals', value: 'landmark' },
      { column: 'country', operator: 'not_in', value: ['a, b', '"', '5', ' x', '', 5, true, 'c'] },
      {
        condition: 'OR',
        rules: [
          { column: 'height_m', operator: 'greater_than', value: 400 },
          { column: 'world_heritage', operator: 'equals', value: true },
        ],
      },
    ],
  };
  await json.fill(JSON.stringify(nested));
  const values = filter.getByRole('textbox', { name: 'Value' });
  await expect.poll(() => values.count()).toBe(4);
  const before = await tab.status(/^\d+ records/);
  await page.getByRole('button', { name: 'Remove group' }).click();
  await expect
    .poll(async () => JSON.parse(await json.inputValue()))
    .toEqual({
      condition: 'AND',
      rules: nested.rules.slice(0, 2),
    });
  await expect.poll(() => page.getByRole('status').textContent()).not.toBe(before);
  await json.fill('{"rules":');
  expect(await filter.locator('.json .fault').textContent()).toMatch(/^This is not JSON/);
  await json.fill('{"rules":[{"column":"kind","operator":"equals","valu":1}]}');
  expect(await filter.locator('.json .fault').textContent()).toBe('Rule 1 has an unknown member "valu".');
  await json.fill('');
  await tab.status(/^331 records/);
});

test('an error of the service is shown at its rule', async ({ open }) => {
  const tab = await open({ database: 'facts' });
  const { page } = tab;
  tab.expected.add(400);
  await tab.status(/^331 records/);
  const filter = page.getByRole('group', { name: 'Filter' });
  for (const [at, column] of ['country', 'year'].entries()) {
    await filter.getByRole('button', { name: 'Add rule' }).click();
    const rule = filter.getByRole('group', { name: `Rule ${at + 1}` });
    await rule.getByRole('combobox', { name: 'Column' }).selectOption(column);
  }
  await filter.getByRole('group', { name: 'Rule 1' }).getByRole('textbox').fill('France');
  const second = filter.getByRole('group', { name: 'Rule 2' });
  await second.getByRole('combobox', { name: 'Operator' }).selectOption('less_than');
  await second.getByRole('textbox', { name: 'Value' }).fill('long ago');
  await expect
    .poll(() => second.getByRole('alert').textContent())
    .toBe('value is string, must be of type number');
  expect(await second.getByRole('textbox').getAttribute('aria-invalid')).toBe('true');
  expect(await filter.getByRole('alert').count()).toBe(1);
  await second.getByRole('textbox').fill('1900');
  await tab.status(/^\d+ records? ·/);
  expect(await filter.getByRole('alert').count()).toBe(0);
});

test('a click on a facet adds its rule, and a second one removes it', async ({ open, service }) => {
  const tab = await open({ database: 'facts' });
  const { page } = tab;
  await tab.status(/^331 records/);
  const facets = page.getByRole('region', { name: 'Facets' });
  const france = facets.getByRole('group', { name: 'country' }).getByRole('button', { name: /^France/ });
  const { body } = await service.call('POST', '/v1/databases/facts/query', {
    filter: { rules: [{ column: 'country', operator: 'equals', value: 'France' }] },
    total: true,
  });
  expect(await france.textContent()).toBe(`France${body.total.value}`);
  await france.click();
  await tab.status(new RegExp(`^${body.total.value} records`));
  expect(await page.getByRole('textbox', { name: 'Value' }).inputValue()).toBe('France');
  expect(await france.getAttribute('aria-pressed')).toBe('true');
  await france.click();
  await tab.status(/^331 records/);
});

test.inFull(
  'several values of a facet can be chosen, each with the number of its own matches',
  async ({ open, service }) => {
    const tab = await open({ database: 'facts', text: 'tall tower' });
    const { page } = tab;
    await tab.status(/matches ·/);
    const facets = page.getByRole('region', { name: 'Facets' });
    const values = (column: string) => facets.getByRole('group', { name: column }).getByRole('button');
    const rule = (value: string) => ({ column: 'country', operator: 'equals', value });
    const responseOf = async (filter: object | undefined, column: string) => {
      const search = { text: 'tall tower', threshold: 0.2 };
      const request = { search, filter, facets: [{ column, limit: 8 }], total: true };
      return (await service.call('POST', '/v1/databases/facts/search', request)).body;
    };
    const shownOf = ({ facets }: { facets: { values: { value: string; count: number }[] }[] }) =>
      (facets[0]?.values ?? []).map(({ value, count }) => `${value}${count}`);
    const response = await responseOf(undefined, 'country');
    const all = shownOf(response);
    const [first, second] = response.facets[0].values.map(({ value }: { value: string }) => value);
    const value = (name: string) => values('country').filter({ hasText: new RegExp(`^${name}\\d`) });
    await expect.poll(() => values('country').allTextContents()).toEqual(all);
    const requests: { filter?: object; facets?: object[] }[] = [];
    page.on('request', (request) => {
      const body = request.url().endsWith('/search') ? request.postDataJSON() : {};
      if (body.facets !== undefined) requests.push(body);
    });
    await value(first).click();
    const one = await responseOf({ rules: [rule(first)] }, 'kind');
    await tab.status(new RegExp(`^${one.total.value} match`));
    await expect.poll(() => values('kind').allTextContents()).toEqual(shownOf(one));
    // The facet itself counts what could be chosen, too. It takes one request more.
    expect(await values('country').allTextContents()).toEqual(all);
    expect(requests).toHaveLength(2);

    await value(second).click();
    const filter = { condition: 'OR', rules: [rule(first), rule(second)] };
    const two = await responseOf(filter, 'kind');
    await tab.status(new RegExp(`^${two.total.value} matches`));
    await expect.poll(() => values('kind').allTextContents()).toEqual(shownOf(two));
    expect(await values('country').allTextContents()).toEqual(all);
    const pressed = facets
      .getByRole('group', { name: 'country' })
      .getByRole('button', { pressed: true })
      .locator('.text');
    expect(await pressed.allTextContents()).toEqual([first, second]);
    await page.getByRole('group', { name: 'Filter' }).getByText('JSON').click();
    const json = page.getByRole('textbox', { name: 'Filter as JSON' });
    expect(JSON.parse(await json.inputValue())).toEqual({ condition: 'AND', rules: [filter] });
    await value(first).click();
    const left = { condition: 'AND', rules: [rule(second)] };
    await expect.poll(async () => JSON.parse(await json.inputValue())).toEqual(left);
    // A value stays where it is chosen, although nothing else that matches has it.
    await page.getByRole('slider', { name: 'Threshold' }).fill('0.99');
    await tab.status(/^0 matches/);
    await expect.poll(() => facets.getByRole('group').count()).toBe(1);
    expect(await values('country').allTextContents()).toEqual([`${second}0`]);
    await values('country').click();
    // A facet without values is no card, and without any there is no panel.
    await expect.poll(() => facets.count()).toBe(0);
  },
);

test.inFull('intervals of numbers are chosen in the same way', async ({ open }) => {
  const tab = await open({ database: 'facts' });
  const { page } = tab;
  await tab.status(/^331 records/);
  const group = page.getByRole('region', { name: 'Facets' }).getByRole('group', { name: 'height_m' });
  const bars = group.getByRole('button', { disabled: false });
  await bars.first().waitFor();
  const labels = await bars.evaluateAll((all) => all.map((bar) => bar.getAttribute('aria-label') ?? ''));
  const numberOf = (at: number) => Number(/: ([\d,]+) records?$/.exec(labels[at] ?? '')?.[1]);
  for (const at of [0, 1]) await group.getByRole('button', { name: labels[at] ?? '', exact: true }).click();
  await tab.status(new RegExp(`^${numberOf(0) + numberOf(1)} records`));
  expect(await bars.evaluateAll((all) => all.map((bar) => bar.getAttribute('aria-label')))).toEqual(labels);
  expect(await group.getByRole('button', { pressed: true }).count()).toBe(2);
  for (const at of [0, 1]) await group.getByRole('button', { name: labels[at] ?? '', exact: true }).click();
  await tab.status(/^331 records/);
});

test('what is typed as the value of a rule is searched for after a pause', async ({ open }) => {
  const tab = await open({ database: 'facts' });
  const { page } = tab;
  await tab.status(/^331 records/);
  await page.getByRole('button', { name: 'Add rule' }).click();
  await page.getByRole('combobox', { name: 'Column' }).selectOption('country');
  const values: string[] = [];
  page.on('request', (request) => {
    const { filter, pagination, facets } = request.postDataJSON() ?? {};
    if (pagination?.limit === 20 && facets === undefined) values.push(filter?.rules[0].value);
  });
  await tab.pauseClock();
  await page.getByRole('textbox', { name: 'Value' }).focus();
  for (const letter of 'France') {
    await page.keyboard.type(letter);
    await page.clock.runFor(150);
  }
  expect(values).toEqual([]);
  await page.clock.runFor(150);
  await expect.poll(() => values).toEqual(['France']);
  await page.clock.resume();
});

test.inFull('a click on a bar of a histogram adds the rules of its interval', async ({ open }) => {
  const tab = await open({ database: 'facts' });
  const { page } = tab;
  await tab.status(/^331 records/);
  const facets = page.getByRole('region', { name: 'Facets' });
  const bar = facets
    .getByRole('group', { name: 'height_m' })
    .getByRole('button', { disabled: false })
    .first();
  const [, count] = /: (\d+) records?$/.exec((await bar.getAttribute('aria-label')) ?? '') ?? [];
  await bar.click();
  await tab.status(new RegExp(`^${count} records? ·`));
  expect(await page.getByRole('textbox', { name: 'Value' }).count()).toBe(2);
  // Texts are no categories.
  expect(await facets.getByRole('group', { name: 'description' }).count()).toBe(0);
});

test('time range, variant and order are those of the request', async ({ open }) => {
  const tab = await open({ database: 'facts' });
  const { page } = tab;
  await tab.status(/^331 records/);
  await page.getByLabel('To', { exact: true }).fill('2001-01-01T00:00');
  await tab.status(/^0 records/);
  await page.getByRole('button', { name: 'Remove the filter' }).click();
  await tab.status(/^331 records/);
  await page.getByRole('combobox', { name: 'Sort by' }).selectOption('height_m');
  await page.getByRole('button', { name: /^Ascending/ }).click();
  await expect.poll(() => page.locator('.card').first().textContent()).toContain('Everest');
  await page.getByRole('button', { name: /^A ·/ }).click();
  await expect.poll(() => page.locator('.card .id').first().textContent()).toMatch(/^[0-9a-f-]{36}$/);
  // The page asks for both ids, so it has one set of paths.
  expect(tab.requests.some((url) => url.includes('/records/'))).toBe(false);
});

test.inFull('a time range that ends before it starts is refused at its fields', async ({ open }) => {
  const tab = await open({ database: 'facts', from: '2026-01-01T00:00:00Z', to: '2020-01-01T00:00:00Z' });
  tab.expected.add(400);
  const range = tab.page.getByRole('group', { name: 'Last synced' });
  await range.getByRole('alert').filter({ hasText: 'From is after To' }).waitFor();
});

test.inFull('an address with an invalid time is one without it', async ({ open }) => {
  const tab = await open({ database: 'facts', from: 'yesterday' });
  await tab.status(/^331 records/);
});

test.inFull('in a column of several types, the type of a value can be chosen', async ({ open, service }) => {
  await service.call('PUT', '/v1/databases/mixed', {});
  const values = [1, '1', true, 'true'];
  const records = values.map((value, at) => ({ id: at + 1, data: { value } }));
  await service.call('POST', '/v1/databases/mixed/records', { records });
  const tab = await open({ database: 'mixed' });
  const { page } = tab;
  await tab.status(/^4 records/);
  await page.getByRole('group', { name: 'Filter' }).getByRole('button', { name: 'Add rule' }).click();
  const type = page.getByRole('combobox', { name: 'Type of the value' });
  const value = page.getByRole('textbox', { name: 'Value' });
  await value.fill('1');
  expect(await type.inputValue()).toBe('number');
  for (const [text, types] of [
    ['1', ['number', 'text']],
    ['true', ['boolean', 'text']],
  ] as const) {
    await value.fill(text);
    for (const name of types) {
      await type.selectOption(name);
      const expected = String(
        values.findIndex((v) => String(v) === text && (typeof v === 'string') === (name === 'text')) + 1,
      );
      await expect
        .poll(() => page.getByRole('list', { name: 'Results' }).getByRole('listitem').first().textContent())
        .toContain(`#${expected}`);
    }
  }
});

test.inFull('the reason of a refusal that belongs to no rule is shown', async ({ open }) => {
  const tab = await open({ database: 'Facts' });
  tab.expected.add(400);
  await tab.page.getByRole('alert').filter({ hasText: 'a database id is 1 to 64 of' }).waitFor();
});

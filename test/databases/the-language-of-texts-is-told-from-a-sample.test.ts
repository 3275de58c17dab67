import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { TextLanguage } from '../../src/databases/text-language.js';

function isForeign(texts: readonly string[]): boolean {
  const language = new TextLanguage();
  for (const text of texts) language.add(text);
  return language.isForeign;
}

test.each([
  ['German', 'Der Ammersee ist ein See in Oberbayern; im Sommer fahren dort Dampfschiffe.'],
  ['French', 'Le Mont-Saint-Michel est une île rocheuse de Normandie, entourée de sable.'],
  ['Spanish', 'El flamenco nació en Andalucía y se baila con palmas, guitarra y cante.'],
  [
    'Italian',
    'Il Po attraversa la pianura padana e sfocia nel mare Adriatico dopo 652 chilometri, e una delle sue città è Torino.',
  ],
  ['Portuguese', 'A cidade não tem um rio, mas uma ponte que os turistas visitam em julho.'],
  ['Dutch', 'Het meer is niet diep, maar de boten zijn er ook in de winter te huur.'],
  ['Swedish', 'Sjön är djup och det finns en båt som går till ön på sommaren.'],
  ['Polish', 'Jezioro jest głębokie, a łódź, która płynie na wyspę, nie jest duża.'],
  ['Turkish', 'Göl çok derin ve bir tekne yaz için adaya gidiyor.'],
  ['Vietnamese', 'Hồ này rất sâu và có một chiếc thuyền cho khách.'],
  ['Russian', 'Волга впадает в Каспийское море, и по ней ходят грузовые суда.'],
  ['Greek', 'Η λίμνη είναι πολύ βαθιά και το νερό κρύο.'],
  ['Arabic', 'القاهرة عاصمة مصر، وتقع على ضفاف نهر النيل.'],
  ['Hindi', 'यह झील बहुत गहरी है और पानी ठंडा है।'],
  ['Chinese', '苏州以园林闻名,许多园林已被列入世界遗产。'],
  ['Japanese', '富士山の高さは何メートルですか'],
  ['Korean', '이 호수는 매우 깊고 물이 차갑다 그리고 배가 있다 여름에'],
])('%s is not English', (_, text) => {
  expect(isForeign([text, text])).toBe(true);
  // Also with names in Latin script.
  expect(isForeign([text, text, 'Canon EOS 5D'])).toBe(true);
});

test('English is, also with foreign words in it, and names and codes are of no language', () => {
  const facts = readFileSync(new URL('../../demo/facts.ndjson', import.meta.url), 'utf8').trimEnd();
  const demo = facts.split('\n').map((line) =>
    Object.values(JSON.parse(line))
      .filter((value) => typeof value === 'string')
      .join('\n'),
  );
  for (let from = 0; from < demo.length; from += 20)
    expect(isForeign(demo.slice(from, from + 20))).toBe(false);
  for (const texts of [
    ['The Champs-Élysées is an avenue in Paris, and la Place de la Concorde is at its end.'],
    [
      'Ludwig van Beethoven',
      'Charles de Gaulle',
      'Vincent van Gogh',
      'Ursula von der Leyen',
      'Rosa de la Cruz',
      'Lou Du Bois',
    ],
    ['Rain jacket XL', 'USB-C cable 2 m', 'Pro display 27"', 'iPhone 15 Plus', 'Café crème', 'Sun hat'],
    ['AB-1234-DE', 'ZX-99-LA', 'EAN 4006381333931', 'EN-ISO 9001', 'DIN 476', 'UN 1203', 'IL 60601'],
    ['git', 'libxml2-dev', 'r-cran-das', 'golang-github-una', 'fonts-noto', 'python3-de-core'],
    ['https://example.com/de/la/index.html', 'info@example.es', 'https://example.com/und'],
  ]) {
    expect(isForeign(texts), texts[0]).toBe(false);
  }
});

test('most texts decide', () => {
  const english = 'The lake is very deep, and there is a boat to the island in the summer.';
  const german = 'Der See ist sehr tief, und im Sommer gibt es ein Boot zu der Insel.';
  expect(isForeign([german, german, english])).toBe(true);
  expect(isForeign([german, english, english])).toBe(false);
  expect(isForeign(['深い湖と島への船', english, english])).toBe(false);
  expect(isForeign([])).toBe(false);
  expect(isForeign(['und'])).toBe(false);
});

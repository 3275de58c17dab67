// The symbols that `using` needs. A context of `node:vm`, such as that of Jest, has them only from Node 24 on.
for (const name of ['dispose', 'asyncDispose']) {
  if (!(name in Symbol)) Object.defineProperty(Symbol, name, { value: Symbol(`Symbol.${name}`) });
}
